// SharedArenas: the arenas of a process that other processes may map, in host memory and in the memory of its GPUs. Shared by the
// arenas, which enter themselves, and by whoever lends tensors. Any thread. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "devices/gpu_sharing.h"

namespace troupe {

class SharedArenas {
 public:
  struct Place {
    uint32_t arena = 0;
    uint64_t offset = 0;
    /// How many parts of the arena, from the first one on, a process must have mapped to find the bytes.
    uint32_t parts = 0;
  };
  /// Returns where other processes find these bytes, which they may read from then on. Returns nothing if the bytes do not lie
  /// in one of these arenas.
  std::optional<Place> lend(const std::byte* data, size_t bytes);
  /// Returns one of the parts of an arena. An arena in host memory has one part. Fails with Unavailable if there is no such part,
  /// or it cannot be shared.
  Result<ArenaPart> part(uint32_t id, uint32_t index) const;

  /// Enters an arena in host memory and returns its id, which is not 0. `descriptor` is its memory file.
  uint32_t add(const std::byte* data, uint64_t bytes, int descriptor);
  /// Enters the memory of a GPU and returns its id. `gpu` is the number of the GPU (GpuOptions::index).
  uint32_t add_gpu(int gpu, const GpuArena& arena);
  void remove(uint32_t id);
  /// Returns whether bytes of this arena have ever been lent.
  bool was_lent(uint32_t id) const;

  /// Returns the ids of the arenas of GPUs.
  std::vector<uint32_t> gpu_arenas() const;
  /// Reserves addresses at which the GPUs of this process find the memory of a GPU of another process, whose arena has so many
  /// bytes. Fails with Unavailable if this process has no GPU.
  Result<std::unique_ptr<PeerGpuMemory>> map_gpu_memory(uint64_t bytes) const;

 private:
  struct Entry {
    uint32_t id = 0;
    const std::byte* data = nullptr;
    uint64_t bytes = 0;
    int descriptor = -1;            ///< of an arena in host memory
    const GpuArena* gpu = nullptr;  ///< set if the arena lies in the memory of a GPU
    int gpu_number = -1;
    bool lent = false;
  };
  const Entry* find(uint32_t id) const;

  mutable std::mutex mutex_;  ///< guards the members below
  std::vector<Entry> entries_;
  uint32_t last_id_ = 0;
};

}  // namespace troupe

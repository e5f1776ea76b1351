// Memory of GPUs that processes of one host share: one process exports the parts of an arena, another one maps them for its GPUs.
// An exported part stays readable where it is mapped, whatever becomes of the process that exported it. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "messages/env/descriptor.h"
#include "messages/values/buffer.h"

namespace troupe {

/// Contiguous memory of an arena that other processes can map.
struct ArenaPart {
  bool on_gpu = false;
  uint64_t offset = 0, bytes = 0;  ///< its place in the arena
  uint64_t arena_bytes = 0;        ///< the size of the whole arena, of which parts may be missing
  Descriptor descriptor;
};

/// The memory of a GPU of this process. It consists of parts, which lie one behind the other; new ones are added at the end. Any
/// thread may call every function.
class GpuArena {
 public:
  /// Returns the addresses of the arena, also those that have no memory yet.
  virtual std::span<const std::byte> addresses() const = 0;
  /// Returns how many parts hold the first `bytes` bytes; 0 if not all of these have memory.
  virtual uint32_t parts_of(uint64_t bytes) const = 0;
  /// Exports a part. Fails with Unavailable if there is no such part, or the driver cannot share it.
  virtual Result<ArenaPart> part(uint32_t index) const = 0;

 protected:
  ~GpuArena() = default;
};

/// The memory of a GPU of another process, mapped for the GPUs of this process, which only read it. One thread at a time.
class PeerGpuMemory {
 public:
  /// The value of Buffer::device for this memory: it belongs to no device of this process.
  static constexpr uint16_t ordinal = 0xffff;

  virtual ~PeerGpuMemory() = default;
  /// Maps a part that the other process has exported. Fails with InvalidArgument unless it follows the part before, and with
  /// Unavailable if a GPU of this process cannot reach it.
  virtual Status add(const ArenaPart& part) = 0;
  /// Returns the address of bytes of the arena. Fails with InvalidArgument if they are not mapped.
  virtual Result<std::byte*> find(uint64_t offset, uint64_t bytes) const = 0;
};

/// Reserves addresses for an arena of `bytes` bytes of another process, which the GPUs with these numbers will read. Fails with
/// Unavailable if memory of GPUs cannot be shared, and with ResourceExhausted if there are not so many addresses.
Result<std::unique_ptr<PeerGpuMemory>> map_peer_gpu_memory(std::span<const int> gpus, uint64_t bytes);

}  // namespace troupe

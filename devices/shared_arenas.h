// SharedArenas: the arenas of a process that other processes may map. Shared by the arenas, which enter themselves, and by
// whoever lends tensors. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe {

class SharedArenas {
 public:
  struct Place {
    uint32_t arena = 0;
    uint64_t offset = 0;
    int descriptor = -1;  ///< of the arena's memory file
  };
  /// Returns where other processes find these bytes, which they may read from then on. Returns nothing if the bytes do not lie
  /// in one of these arenas.
  std::optional<Place> lend(const std::byte* data, size_t bytes);

  /// Enters an arena and returns its id, which is not 0.
  uint32_t add(const std::byte* data, uint64_t bytes, int descriptor);
  void remove(uint32_t id);
  /// Returns whether bytes of this arena have ever been lent.
  bool was_lent(uint32_t id) const;

 private:
  struct Entry {
    uint32_t id;
    const std::byte* data;
    uint64_t bytes;
    int descriptor;
    bool lent = false;
  };
  mutable std::mutex mutex_;  ///< guards the members below
  std::vector<Entry> entries_;
  uint32_t last_id_ = 0;
};

}  // namespace troupe

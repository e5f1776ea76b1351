// SharedRing: a queue of bytes from one process to another, in memory that both have mapped. One side writes and the other reads;
// on each side one thread at a time. Neither side makes a system call: the functions say when the other side sleeps and must be
// woken. Neither side trusts the other: it keeps its own position in its own memory, and checks the other's position before use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/values/status.h"

namespace troupe {

/// The part of a ring that is not bytes. All zero at first. Positions count bytes from the start of the connection.
struct RingState {
  alignas(64) std::atomic<uint64_t> written{0};
  std::atomic<uint32_t> writer_waits{0};  ///< the writer waits for room
  alignas(64) std::atomic<uint64_t> read{0};
  std::atomic<uint32_t> reader_sleeps{0};  ///< the reader must be woken when bytes arrive
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

/// The bytes of a ring must be a power of two.
class RingWriter {
 public:
  RingWriter(RingState& state, std::span<std::byte> bytes) : state_(state), bytes_(bytes) {}

  /// Copies as many of these bytes as there is room for, and returns their number. The reader does not see them before publish().
  /// Fails with DataLoss if the reader's position is impossible.
  Result<size_t> write(std::span<const std::byte> bytes);
  /// Shows the reader what was written. Returns true if the reader sleeps and must be woken.
  bool publish();
  /// Call when a write found no room. Returns true if there is room now; otherwise the reader will say when it must wake this side.
  bool wait_for_room();

 private:
  RingState& state_;
  const std::span<std::byte> bytes_;
  uint64_t written_ = 0, read_ = 0;  ///< `read_` is what was last seen
};

class RingReader {
 public:
  RingReader(RingState& state, std::span<const std::byte> bytes) : state_(state), bytes_(bytes) {}

  /// Returns whether bytes have arrived that were not read yet.
  bool ready() const { return state_.written.load(std::memory_order_acquire) != read_; }
  /// Copies at most into.size() bytes out of the ring and returns their number. The writer sees the room after release(). Fails
  /// with DataLoss if the writer's position is impossible.
  Result<size_t> read(std::span<std::byte> into);
  /// Gives the writer the room of what was read. Returns true if the writer waits for it and must be woken.
  bool release();
  /// Marks the reader as asleep. Returns false, and the reader stays awake, if bytes have arrived meanwhile.
  bool sleep();
  void stay_awake() { state_.reader_sleeps.store(0, std::memory_order_relaxed); }

 private:
  RingState& state_;
  const std::span<const std::byte> bytes_;
  uint64_t read_ = 0;
};

}  // namespace troupe

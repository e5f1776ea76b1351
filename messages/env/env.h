// Env: everything outside itself that an actor may use: time, files, network and randomness. It is injected, so that tests can run
// a whole cluster in one thread and in virtual time. The runtime provides the real implementations, the tests simulated ones. These
// objects outlive everything that was given the Env.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

namespace troupe {

using TimerId = uint64_t;

/// A monotonic clock with timers. Any thread may call it. Callbacks run on the control thread, where they must not block.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Nanoseconds since an arbitrary start.
  virtual int64_t now() const = 0;
  /// Calls `function` once, at `time` or soon after; if `time` is past, as soon as possible. Ids are never reused.
  virtual TimerId call_at(int64_t time, std::function<void()> function) = 0;
  /// Cancels a timer; no effect if it has fired. If another thread than the control thread cancels, the callback may run meanwhile.
  virtual void cancel(TimerId timer) = 0;
};

/// Returns the time of the clock; null: of the steady clock.
inline int64_t now_of(const Clock* clock) {
  return clock ? clock->now()
               : std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The longest time for which anything waits: ten years, so that no clock exceeds a deadline.
inline constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours(10 * 365 * 24);

/// Returns a duration as far as it can be waited for: 0 if it is negative, and longest_wait if it is longer.
inline std::chrono::nanoseconds bounded_wait(std::chrono::nanoseconds duration) {
  return std::clamp<std::chrono::nanoseconds>(duration, std::chrono::nanoseconds(0), longest_wait);
}

/// Returns the time of the clock when `duration`, which may be of any length, will have passed.
inline int64_t deadline_after(const Clock& clock, std::chrono::nanoseconds duration) {
  return clock.now() + bounded_wait(duration).count();
}

class Disk;     // messages/env/disk.h
class Network;  // messages/env/network.h

struct Env {
  Clock& clock;
  Disk& disk;
  Network* network = nullptr;  ///< null if this node is the only one
  uint64_t seed = 0;
};

}  // namespace troupe

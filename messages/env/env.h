// Env: everything outside itself that an actor may reach: time, files, network, randomness. Injected, so that
// a whole cluster runs in one thread under virtual time. Interfaces only; real ones are made by the runtime,
// simulated ones by the tests. The objects outlive whoever is given the Env.
#pragma once

#include <cstdint>
#include <functional>

namespace troupe {

using TimerId = uint64_t;

/// A monotonic clock with timers. Any thread; callbacks run on the control thread (where they must not
/// block).
class Clock {
 public:
  virtual ~Clock() = default;
  /// Nanoseconds since an arbitrary start.
  virtual int64_t now() const = 0;
  /// Calls `function` once at `time` or soon after; at once when that is past. The id is never used again.
  virtual TimerId call_at(int64_t time, std::function<void()> function) = 0;
  /// No effect on a timer that has fired. The callback may still run when another thread cancels at that very
  /// moment.
  virtual void cancel(TimerId timer) = 0;
};

class Disk;     // messages/env/disk.h
class Network;  // messages/env/network.h

struct Env {
  Clock& clock;
  Disk& disk;
  Network* network = nullptr;  ///< null: this node is the only one
  uint64_t seed = 0;
};

}  // namespace troupe

// Process: what the actors of applications may use of their process besides Env: threads that may block, what these wait for,
// processor time and random numbers. The runtime provides the real implementation, the tests a simulated one, in which such threads
// run in turn. It outlives everything that was given it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace troupe {

/// What a blocking thread waits for until another thread notifies it. Any thread.
class Signal {
 public:
  virtual ~Signal() = default;
  /// Makes waiting threads call their `done` again. The caller must not hold a mutex that `done` locks.
  virtual void notify() = 0;
  /// Waits until `done` returns true, and returns true then; returns false after the deadline (nanoseconds of Env's clock; 0:
  /// none).
  virtual bool wait(const std::function<bool()>& done, int64_t deadline) = 0;
};

/// A thread that may block. The destructor waits for its end.
class BlockingThread {
 public:
  virtual ~BlockingThread() = default;
};

class Process {
 public:
  virtual ~Process() = default;
  virtual std::unique_ptr<Signal> signal() = 0;
  virtual std::unique_ptr<BlockingThread> start_thread(std::function<void()> body) = 0;
  /// Returns the nanoseconds for which the threads of this process have used processors, in sum.
  virtual uint64_t processor_time() const = 0;
  /// Returns a number that names something for ever; never 0.
  virtual uint64_t random_id() = 0;
};

}  // namespace troupe

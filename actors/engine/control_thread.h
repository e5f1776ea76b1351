// ControlThread: the control thread of a node, and with it the node's Scheduler and Clock. It runs the actors whose messages
// come from threads without a Unit, fires timers, and serves sockets through its io_context. Computations run on the pool
// instead, and work with files on file threads, which are started when they are first needed. While something is polled, a thread
// that waits does the work of the control thread: one thread at a time, so that for handlers it is still one control thread.
// Owned by the runtime; it is made before the engine and destroyed after it.
#pragma once

#include <memory>

#include "actors/engine/polled.h"
#include "actors/engine/scheduler.h"
#include "devices/pool.h"
#include "messages/env/env.h"

namespace boost::asio {
class io_context;
}

namespace troupe {

class ControlThread final : public Scheduler, public Clock {
 public:
  explicit ControlThread(Pool& pool);
  /// First finishes the jobs that may block, then stops the threads. Other jobs, and timers that have not fired, are dropped.
  ~ControlThread() override;

  void enqueue(Job job) override;
  void compute(Job job) override;
  bool try_compute(std::function<void()> computation) override;
  void block(Job job) override;
  void block_in_background(Job job) override;
  bool wait(const std::function<bool()>& done, int64_t deadline) override;
  void wake() override;

  int64_t now() const override;
  TimerId call_at(int64_t time, std::function<void()> function) override;
  void cancel(TimerId timer) override;

  /// From now on, and as long as it exists, asks it for work. While it is active, the control thread spins for some time before it
  /// sleeps. Any thread may call this function.
  void add(std::weak_ptr<Polled> polled);

  /// For sockets whose handlers are to run on the control thread.
  boost::asio::io_context& io();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe

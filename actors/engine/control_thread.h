// ControlThread: the one control thread of a node, as a Scheduler and a Clock: it runs the actors that no computing thread is at
// hand for, fires timers, and (through its io_context) serves sockets. No handler on it computes: that goes to the pool; or
// touches files: those have a thread of their own, which is started when it is first needed.
// Owned by the runtime; made before the engine and gone after it.
#pragma once

#include <memory>

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
  /// Stops its threads; jobs and timers not yet due are dropped, but for those that may block: they are done first.
  ~ControlThread() override;

  void enqueue(Job job) override;
  void compute(Job job) override;
  bool try_compute(std::function<void()> computation) override;
  void block(Job job) override;
  bool wait(const std::function<bool()>& done, int64_t deadline) override;
  void wake() override;

  int64_t now() const override;
  TimerId call_at(int64_t time, std::function<void()> function) override;
  void cancel(TimerId timer) override;

  /// For links: sockets whose handlers run on the control thread.
  boost::asio::io_context& io();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe

// JobThread: a thread that serves the requests of an actor one after the other, because they take long and block. Owned by the
// actor's service. Any thread may post jobs.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "actors/engine/role.h"
#include "messages/env/process.h"

namespace troupe::services {

class JobThread {
 public:
  using Job = std::function<Result<AnyMessage>()>;

  explicit JobThread(Process& process)
      : changed_(process.signal()), thread_(process.start_thread([this] { run(); })) {}
  ~JobThread() { end(); }
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  /// Adds a job, whose result answers the request. A job that throws Error answers with its status. After end(), the request is
  /// answered with Unavailable.
  void post(Job job, Reply reply);
  /// Returns whether a job is running or waiting.
  bool busy() const {
    const std::lock_guard lock(mutex_);
    return running_ || !jobs_.empty();
  }
  /// Calls `interrupt`, which may let the current job fail, waits for that job, and ends the thread. What fails then, and the jobs
  /// that have not begun, are answered with Unavailable, as requests to a lost task are. Not for two threads.
  void end(const std::function<void()>& interrupt = [] {});

 private:
  void run();
  bool has_work() const {
    const std::lock_guard lock(mutex_);
    return ending_ || !jobs_.empty();
  }

  mutable std::mutex mutex_;  ///< guards the next three
  std::deque<std::pair<Job, Reply>> jobs_;
  bool running_ = false;  ///< a job
  bool ending_ = false;
  const std::unique_ptr<Signal> changed_;
  std::unique_ptr<BlockingThread> thread_;  // the last member: it uses the others
};

}  // namespace troupe::services

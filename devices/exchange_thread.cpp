#include "devices/exchange_thread.h"

#include <utility>

namespace troupe {

ExchangeThread::ExchangeThread(Work connect)
    : thread_([this, connect = std::move(connect)] { run(connect); }) {}

ExchangeThread::~ExchangeThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  abort(cancelled("the communicator of a GPU has been closed"));
  thread_.join();
}

Completion ExchangeThread::add(Work work) {
  auto done = Completion::pending();
  const std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(work), done});
  changed_.notify_one();
  return done;
}

void ExchangeThread::abort(const Status& reason) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = reason;
  changed_.notify_one();
}

Status ExchangeThread::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ExchangeThread::run(const Work& connect) {
  if (Status connected = connect(); !connected.ok()) abort(connected);
  while (auto exchange = next()) {
    Status status = failure();
    if (status.ok()) status = exchange->work();
    // An exchange that was aborted has failed because of that.
    if (!status.ok()) {
      abort(status);
      status = failure();
    }
    exchange->work = {};  // the tensors are free before others hear of the end
    exchange->done.complete(std::move(status));
  }
}

/// Waits for an exchange. Returns nothing when the thread is to end and none is left.
std::optional<ExchangeThread::Exchange> ExchangeThread::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
  if (waiting_.empty()) return {};
  Exchange exchange = std::move(waiting_.front());
  waiting_.pop_front();
  return exchange;
}

}  // namespace troupe

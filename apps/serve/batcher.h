// Batcher: runs the requests to a model, together where they fit: requests of one signature whose inputs differ in the number of
// rows only are computed as one batch. While a batch is computed the next requests gather, so batches grow with the load, and a
// request that finds the model idle does not wait. Any thread.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "apps/serve/request_json.h"

namespace troupe::serve {

class Batcher : public std::enable_shared_from_this<Batcher> {
 public:
  using Clock = std::chrono::steady_clock;
  using Outputs = Result<std::vector<Tensor>>;

  struct Options {
    int64_t max_rows = 256;     ///< of a batch
    size_t max_waiting = 4096;  ///< the number of requests that may wait
    size_t parallel = 1;        ///< the number of batches that are computed at the same time
    /// Has a task run soon, on another thread.
    std::function<void(std::function<void()>)> submit;
    /// Is told the number of requests and rows of each batch.
    std::function<void(size_t requests, int64_t rows)> observe;
  };

  /// Must be made by std::make_shared: the tasks that answer its requests keep it.
  Batcher(Model model, Options options) : model_(std::move(model)), options_(std::move(options)) {}
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// Calls `done` once, from any thread, with the outputs of the request, or with a failure: of the model; ResourceExhausted if too
  /// many requests wait; DeadlineExceeded if the request could not begin before the deadline. If there is no memory for an answer,
  /// `done` is destroyed instead.
  void run(ModelRequest request, Clock::time_point deadline, std::function<void(Outputs)> done);
  size_t waiting() const;

 private:
  struct Waiting {
    ModelRequest request;
    Clock::time_point deadline;
    std::function<void(Outputs)> done;
  };

  void drain();
  std::vector<Waiting> take();
  void compute(std::vector<Waiting> batch);

  const Model model_;
  const Options options_;
  mutable std::mutex mutex_;
  std::deque<Waiting> waiting_;
  size_t active_ = 0;  ///< how many batches are being computed
};

}  // namespace troupe::serve

// Prefetch: batches that other threads make ahead of their use, in order and with bounded memory. Used by one thread at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "apps/data/batches.h"

namespace troupe::data {

/// Makes a batch of another one with as many samples. The result depends only on the batch and its step. Any thread.
using MapBatch = std::function<Result<Dataset>(uint64_t step, Dataset batch)>;

struct PrefetchOptions {
  size_t ahead = 2;    ///< how many batches are kept ready or in work, at least 1
  size_t threads = 1;  ///< how many batches are mapped at the same time; one of them at a time is read
};

class Prefetch final : public Batches {
 public:
  /// Makes the batches of `batches`, mapped unless `map` is empty.
  Prefetch(std::unique_ptr<Batches> batches, const PrefetchOptions& options, MapBatch map = {});
  ~Prefetch() override;

  /// Waits until the batch has been made. A step that does not follow the one before takes longer.
  Result<Dataset> at(uint64_t step) override;
  std::optional<BatchQueue> queue() override;

 private:
  using Slot = std::optional<Result<Dataset>>;  ///< not set: in work

  /// Makes batches until it is stopped.
  void run(const std::stop_token& stop);
  /// Makes the next batch. The lock is held at the beginning and at the end.
  void make_next(std::unique_lock<std::mutex>& lock);

  std::unique_ptr<Batches> batches_;  ///< used by the thread that has set is_reading_
  const MapBatch map_;
  const size_t ahead_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  std::deque<std::shared_ptr<Slot>> slots_;  ///< the batches of the steps from first_ on
  uint64_t first_ = 0;
  bool is_used_ = false;  ///< whether a batch has been asked for
  bool is_reading_ = false;
  std::vector<std::jthread> threads_;  ///< the last member, so that they end before the others are destroyed
};

}  // namespace troupe::data

// Prefetch: batches that another thread makes ahead of their use. Used by one thread at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "apps/data/batches.h"

namespace troupe::data {

class Prefetch final : public Batches {
 public:
  /// Makes the batches of `batches`, of which `ahead` are kept ready.
  Prefetch(std::unique_ptr<Batches> batches, size_t ahead);

  /// Waits until the batch has been made. A step that does not follow the one before takes longer.
  Result<Dataset> at(uint64_t step) override;

 private:
  /// Makes batches until it is stopped.
  void run(const std::stop_token& stop);

  std::unique_ptr<Batches> batches_;  ///< used by thread_ only
  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  std::deque<Result<Dataset>> ready_;  ///< the batches of the steps from first_ready_ on
  uint64_t first_ready_ = 0;
  bool is_used_ = false;  ///< whether a batch has been asked for
  std::jthread thread_;   ///< the last member, so that it ends before the others are destroyed
};

}  // namespace troupe::data

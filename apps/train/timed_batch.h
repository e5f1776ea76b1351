// Takes a batch and measures how long that takes. The calling thread is that of the batches.
#pragma once

#include <chrono>

#include "apps/data/batches.h"

namespace troupe::train {

/// Returns the batch of a step, and stores the seconds that it took. Throws Error.
inline data::Dataset timed_batch(data::Batches& batches, uint64_t step, double& seconds) {
  const auto begin = std::chrono::steady_clock::now();
  data::Dataset batch = value_or_throw(batches.at(step));
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return batch;
}

}  // namespace troupe::train

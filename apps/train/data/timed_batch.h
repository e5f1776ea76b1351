// Takes a batch and measures how long that takes. The calling thread is that of the batches.
#pragma once

#include <chrono>

#include "apps/data/batches.h"
#include "messages/env/env.h"

namespace troupe::train {

/// Returns the batch of a step, and stores the seconds that it took. Throws Error. `clock`: null for the steady clock.
inline data::Dataset timed_batch(data::Batches& batches, uint64_t step, double& seconds,
                                 const Clock* clock = nullptr) {
  const int64_t begin = now_of(clock);
  data::Dataset batch = value_or_throw(batches.at(step));
  seconds = std::chrono::duration<double>(std::chrono::nanoseconds(now_of(clock) - begin)).count();
  return batch;
}

}  // namespace troupe::train

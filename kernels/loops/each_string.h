// A loop over the strings of a tensor, each of which may be refused. Any thread may call the function.
#pragma once

#include <mutex>

#include "kernels/core/parallel.h"
#include "messages/values/status.h"

namespace troupe {

/// Calls work(i) for i < count on the pool and returns the failure of the first i that fails; later ones of its block are left out.
/// The failure is the same for any number of threads. `cost` is that of one call, in bytes moved.
template <class Work>
Status for_each_string(Pool& pool, size_t count, size_t cost, const Work& work) {
  std::mutex mutex;
  size_t first = count;
  Status failure;
  parallel_rows(pool, count, cost, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Status status = work(i);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      if (i < first) failure = std::move(status);
      first = std::min(first, i);
      return;
    }
  });
  return failure;
}

}  // namespace troupe

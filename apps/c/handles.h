// The handles of clusters, runtimes and cancellations in the C interface. Not installed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/cluster.h"
#include "actors/runtime.h"
#include "apps/c/calls.h"
#include "apps/c/cluster.h"
#include "apps/c/runtime.h"

struct troupe_cluster {
  troupe::ClusterSpec spec;
  std::string job;  ///< the task of this process
  int32_t task = 0;
};

struct troupe_runtime {
  std::shared_ptr<troupe::Runtime> runtime;
  std::vector<std::string> devices;
};

struct troupe_cancellation {
  troupe::Cancellation value;
};

namespace troupe::c {

inline const Cancellation* cancellation(const troupe_cancellation* pointer) {
  return pointer ? &pointer->value : nullptr;
}

}  // namespace troupe::c

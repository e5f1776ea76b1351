// WorkerDevices: a worker and its devices, as the master of a session knows them. A plain value.
#pragma once

#include <vector>

#include "graph/passes/place/placer.h"
#include "messages/values/address.h"

namespace troupe {

/// A worker that a session may use.
struct WorkerDevices {
  Address worker;
  std::vector<DeviceInfo> devices;
};

}  // namespace troupe

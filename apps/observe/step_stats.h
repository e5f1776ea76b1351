// Profiles of steps in the form in which TensorBoard shows them beside a graph. A pure function; any thread. Source:
// tensorflow/core/framework/step_stats.proto, tensorflow/core/protobuf/config.proto.
#pragma once

#include <span>
#include <string>

#include "actors/step/executor/device_profile.h"

namespace troupe::observe {

/// Returns the bytes of a RunMetadata with the runs of all nodes, and what was waited for.
std::string run_metadata(std::span<const DeviceProfile> profile);

}  // namespace troupe::observe

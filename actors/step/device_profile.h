// DeviceProfile: where the time of a step went (StepOptions::profile). Plain values. Public header.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct NodeProfile {
  std::string name;  ///< for a feed or fetch: the name of the node whose output it is
  std::string op;    ///< the op of the node; "feed" or "fetch" for those
  uint64_t runs = 0;
  /// The time of all runs together. For an op that an actor carries out, only the time until the request was sent.
  std::chrono::nanoseconds time{0};
};

/// The profile of the part of a step on one device.
struct DeviceProfile {
  std::string device;              ///< full name
  std::vector<NodeProfile> nodes;  ///< the nodes that ran
  /// The time during which a thread drove the part: its nodes and the work between them.
  std::chrono::nanoseconds driven{0};
  /// The time from the start to the end of the part. The rest beside `driven` was spent waiting.
  std::chrono::nanoseconds elapsed{0};
};

}  // namespace troupe

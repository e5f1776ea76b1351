// What a step that was asked for it tells of where its time went (StepOptions::profile). Public header: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct NodeProfile {
  std::string name;  ///< of a feed or fetch that of the node whose output it is
  std::string op;    ///< "feed", "fetch" for those
  uint64_t runs = 0;
  /// Of all runs together; of variable and queue ops only until they were asked for.
  std::chrono::nanoseconds time{0};
};

/// The part of a step on one device.
struct DeviceProfile {
  std::string device;              ///< in full
  std::vector<NodeProfile> nodes;  ///< those that ran
  /// In which a thread drove the part: its nodes, and what is between them.
  std::chrono::nanoseconds driven{0};
  /// From its start to its end: what is not driven was waited.
  std::chrono::nanoseconds elapsed{0};
};

}  // namespace troupe

// DeviceProfile: where the time of a step went (StepOptions::profile). Plain values. Public header.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// One run of a node, or the time from its request to an actor until the reply. Times are those of the task's monotonic clock.
struct NodeSpan {
  std::chrono::nanoseconds begin{0}, end{0};
  uint64_t bytes = 0;   ///< of the inputs; of a reply, of the outputs
  bool waited = false;  ///< it is the time from a request to its reply
};

struct NodeProfile {
  std::string name;  ///< for a feed or fetch: the name of the node whose output it is
  std::string op;    ///< the op of the node; "feed" or "fetch" for those
  uint64_t runs = 0;
  /// The time of all runs together. For an op that an actor carries out, only the time until the request was sent.
  std::chrono::nanoseconds time{0};
  std::string edge{};  ///< for a Send or Recv: what names the edge, equal for both
  std::string peer{};  ///< for a Send or Recv: the full name of the device at the other end
  std::vector<NodeSpan> spans{};
};

/// The profile of the part of a step on one device.
struct DeviceProfile {
  std::string device;                ///< full name
  std::vector<NodeProfile> nodes{};  ///< the nodes that ran
  /// The time during which a thread drove the part: its nodes and the work between them.
  std::chrono::nanoseconds driven{0};
  /// The time from the start to the end of the part. The rest beside `driven` was spent waiting.
  std::chrono::nanoseconds elapsed{0};
  std::chrono::nanoseconds begin{0};  ///< the start of the part, by the monotonic clock of its task
  /// When the master asked the task for its part and when it had the answer, by the monotonic clock of the master.
  std::chrono::nanoseconds asked{0}, answered{0};
};

}  // namespace troupe

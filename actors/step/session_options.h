// SessionOptions: what a client chooses for its session. Plain values. Public header.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/values/device_name.h"

#pragma GCC visibility push(default)
namespace troupe {

/// How the master chooses among the devices that may run a node.
enum class DeviceChoice : uint8_t {
  FirstFeasible,  ///< the first one: GPUs before CPUs, then by name (features.md H6)
  /// The one on which the node would end first in a simulation of the step, the transfers of its inputs included (features.md H9).
  /// Times are estimated from the shapes, until some steps of a signature have been measured; then it is placed once more.
  /// Variables stay where they are.
  EarliestFinish,
  /// As EarliestFinish, and a search looks for placements that the simulation judges better (features.md H10). It takes up to a
  /// second for each signature.
  /// Once steps of a signature have been measured, the session tries several placements, times some steps of each, and keeps the
  /// one whose steps are the shortest.
  Learned,
};

struct SessionOptions {
  /// The seed of the random ops that have no seeds of their own. Without a seed they draw other numbers in every session.
  std::optional<uint64_t> seed = {};
  /// With Soft, a device request that no device can meet loses its type and id (features.md H8). With Strict it is an error.
  Placement placement = Placement::Strict;
  DeviceChoice device_choice = DeviceChoice::FirstFeasible;
  /// Whether float tensors travel between tasks as bfloat16, without the lower half of their bits (features.md I9), except for
  /// references that are read late.
  bool lossy_transfers = false;
  /// Whether the float outputs of a step are checked, for debugging: the step fails with InvalidArgument and names the first node
  /// that computes NaN or infinity from finite inputs, or the feed that has them (features.md U7). Steps take longer, because every
  /// tensor is read once more and no ops are fused. Constants, variables that are references, and the insides of functions are not
  /// checked.
  bool check_finite = false;
  /// Whether to fold constants and share common subexpressions.
  bool simplify = true;
  /// How long to wait until all tasks of the cluster are linked.
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(60);
  /// The tasks of the cluster that the session uses beside its own process, as "/job:ps" or "/job:worker/task:1". Empty: all.
  /// Opening the session fails with InvalidArgument if one of them does not exist.
  std::vector<std::string> tasks = {};
  /// Whether the session shares its variables and queues with all other sessions that share theirs. Otherwise they are its own and
  /// are dropped with it. By default a session of a single process has its own, and a session of a cluster shares them, so that
  /// several clients can train one model.
  std::optional<bool> share_state = {};
  /// How many signatures are kept prepared. The one used longest ago is dropped first.
  size_t signatures = 256;
};

}  // namespace troupe
#pragma GCC visibility pop

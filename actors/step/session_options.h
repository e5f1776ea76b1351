// What a client chooses for its session. Public header. Plain values.
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

struct SessionOptions {
  /// Of random ops without seeds of their own. Without one they draw other numbers in every session.
  std::optional<uint64_t> seed = {};
  Placement placement =
      Placement::Strict;  ///< Soft: what no device meets loses its type and id (features.md H8)
  bool simplify = true;   ///< fold constants, share common subexpressions
  std::chrono::nanoseconds start_timeout =
      std::chrono::seconds(60);  ///< for all tasks of the cluster to be there
  /// Tasks of the cluster that the session spans beside its own process, as "/job:ps" or "/job:worker/task:1"; none: all.
  std::vector<std::string> tasks = {};
  /// Whether the session's variables and queues are those of every other session that shares, or its own and go with it. By default
  /// they are its own in one process, and shared over a cluster, so that several clients can train one model.
  std::optional<bool> share_state = {};
  size_t signatures = 256;  ///< kept prepared; the one used longest ago goes first
};

}  // namespace troupe
#pragma GCC visibility pop

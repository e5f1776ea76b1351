// Names of the nodes that compute a logical shard of a batch. In a graph that computes several shards, each has a prefix of its
// own. In a graph that computes one shard per step, whichever the step says, they have the prefix of the step's shard. Random nodes
// draw equal numbers for a shard in both kinds of graphs. Free functions; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// The prefix of nodes that compute the shard of their step (StepOptions::shard).
inline constexpr const char* step_shard_prefix = "shard";

/// Returns the prefix of nodes that always compute this shard.
inline std::string shard_prefix(int64_t shard) { return "shard_" + std::to_string(shard); }

}  // namespace troupe

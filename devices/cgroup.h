// The memory limit that control groups, of version 2 or 1, set for this process. A function without state; any thread may call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

/// Returns the lowest memory limit of the process's group and of the groups above it, in bytes; nothing if there
/// is none. Tests give a `root`, which is put before all paths that are read (/proc/self/cgroup, /sys/fs/cgroup).
std::optional<uint64_t> cgroup_memory_limit(const std::string& root = {});

}  // namespace troupe

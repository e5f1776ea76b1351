// Cgroup: what the control groups of this process, of version 2 or 1, leave it. Functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

/// The least memory limit of the process's group and those above it, in bytes; nothing where there is none. `root` is put before
/// the paths that are read (/proc/self/cgroup, /sys/fs/cgroup), for tests.
std::optional<uint64_t> cgroup_memory_limit(const std::string& root = {});

}  // namespace troupe

// Host lists: the lists of hosts, and of numbers of tasks, that launchers and users write. Plain values; any thread may call the
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/status.h"

namespace troupe::cluster {

/// The most hosts and ranks that a list may stand for.
constexpr size_t max_hosts = 1 << 16;

/// Returns the number that the text is; nothing if it is no number or too large.
std::optional<uint64_t> number(std::string_view text);

/// Expands a list of hosts: "a[01-03,7],b" becomes a01 a02 a03 a7 b. Fails with InvalidArgument if it is malformed.
Result<std::vector<std::string>> expand_hosts(const std::string& list);

/// Expands SLURM's list of the number of tasks on each host: "2(x3),1" becomes 2 2 2 1. Fails with InvalidArgument if it is
/// malformed.
Result<std::vector<uint64_t>> tasks_per_host(const std::string& list);

/// Expands a list of hosts with the number of ranks on each, 1 unless given: "a:2,b" becomes a a b. A host may be a range, as in
/// expand_hosts(): "a[1-2]:2" becomes a1 a1 a2 a2. Fails with InvalidArgument if it is malformed.
Result<std::vector<std::string>> hosts_of_slots(const std::string& list);

}  // namespace troupe::cluster

#include "devices/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace troupe {
namespace {

/// The number in a file; nothing when it is "max", or not there.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return {};
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// The least number in `file` of a group and of those above it. In a container the path may be one of the host that is not there:
/// the container's own group is then the topmost.
std::optional<uint64_t> least_above(const std::string& top, std::string group, const std::string& file) {
  std::optional<uint64_t> least;
  while (true) {
    if (const auto limit = number_in(top + group + "/" + file))
      least = std::min(*limit, least.value_or(*limit));
    if (group.empty()) return least;
    group.erase(group.find_last_of('/'));
  }
}

bool names_memory(const std::string& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

// Each line is "0::/group" (version 2) or "4:cpu,memory:/group" (version 1).
std::optional<uint64_t> cgroup_memory_limit(const std::string& root) {
  std::optional<uint64_t> least;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    std::optional<uint64_t> limit;
    if (controllers.empty())
      limit = least_above(root + "/sys/fs/cgroup", group, "memory.max");
    else if (names_memory(controllers))
      limit = least_above(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    if (limit) least = std::min(*limit, least.value_or(*limit));
  }
  return least;
}

}  // namespace troupe

#include "devices/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace troupe {
namespace {

/// Returns the number in a file; nothing if the file has "max" or does not exist.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return {};
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// Returns the lowest number in `file` of a group and of the groups above it. In a container the group may
/// be a path of the host that does not exist in the container; `top` then is the container's own group.
std::optional<uint64_t> lowest_limit(const std::string& top, std::string group, const std::string& file) {
  std::optional<uint64_t> lowest;
  while (true) {
    if (const auto limit = number_in(top + group + "/" + file))
      lowest = std::min(*limit, lowest.value_or(*limit));
    if (group.empty()) return lowest;
    group.erase(group.find_last_of('/'));
  }
}

bool names_memory(const std::string& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

// Each line of /proc/self/cgroup is "0::/group" (version 2) or "4:cpu,memory:/group" (version 1).
std::optional<uint64_t> cgroup_memory_limit(const std::string& root) {
  std::optional<uint64_t> lowest;
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
      limit = lowest_limit(root + "/sys/fs/cgroup", group, "memory.max");
    else if (names_memory(controllers))
      limit = lowest_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    if (limit) lowest = std::min(*limit, lowest.value_or(*limit));
  }
  return lowest;
}

}  // namespace troupe

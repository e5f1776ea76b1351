#include "messages/env/matching_files.h"

#include <fnmatch.h>

#include <algorithm>

namespace troupe {
namespace {

constexpr const char* special = "*?[\\";

bool is_absent(const Status& status) {
  return status.code() == Code::NotFound || status.code() == Code::FailedPrecondition;
}

/// Appends `next`, a part of the pattern, to a path that is empty or ends with '/'. Adds what is there to `found`.
Status extend(Disk& disk, const std::string& path, const std::string& next, std::vector<std::string>& found) {
  if (next.find_first_of(special) == std::string::npos) {
    const Status there = disk.info(path + next).status();
    if (there.ok()) found.push_back(path + next);
    return is_absent(there) ? Status() : there;
  }
  const std::string folder = path.empty() ? "." : path.substr(0, std::max<size_t>(path.size() - 1, 1));
  const auto entries = disk.list(folder);
  if (!entries) return is_absent(entries.status()) ? Status() : entries.status();
  for (const Disk::Entry& entry : *entries)
    if (::fnmatch(next.c_str(), entry.name.c_str(), FNM_PERIOD) == 0) found.push_back(path + entry.name);
  return {};
}

}  // namespace

// Only the folders from the first special character on are looked into, because those above may lie outside the roots.
Result<std::vector<std::string>> matching_files(Disk& disk, const std::string& pattern) {
  const size_t first = pattern.find_first_of(special);
  const size_t begin = first == std::string::npos ? 0 : pattern.rfind('/', first) + 1;
  std::vector<std::string> paths = {pattern.substr(0, begin)};
  std::string rest = pattern.substr(begin);
  for (bool is_last = false; !is_last;) {
    const size_t slash = first == std::string::npos ? std::string::npos : rest.find('/');
    is_last = slash == std::string::npos;
    std::vector<std::string> found;
    for (const std::string& path : paths)
      TROUPE_RETURN_IF_FAILED(extend(disk, path, rest.substr(0, slash), found));
    if (!is_last) {
      for (std::string& path : found) path += '/';
      rest.erase(0, slash + 1);
    }
    paths = std::move(found);
  }
  return paths;
}

}  // namespace troupe

#include "messages/env/glob.h"

#include <algorithm>
#include <optional>

namespace troupe {
namespace {

constexpr std::string_view special = "*?[\\";

bool is_plain(std::string_view part) { return part.find_first_of(special) == std::string_view::npos; }

/// Returns the length of the set at the beginning of the pattern, with its brackets; 0 if it does not end.
size_t set_length(std::string_view pattern) {
  size_t at = 1;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  if (at < pattern.size() && pattern[at] == ']') ++at;  // the first character of a set is none of its end
  const size_t end = pattern.find(']', at);
  return end == std::string_view::npos ? 0 : end + 1;
}

/// Returns whether a character is in the set, which includes its brackets.
bool in_set(std::string_view set, char character) {
  set = set.substr(1, set.size() - 2);
  const bool excludes = set[0] == '!' || set[0] == '^';
  if (excludes) set.remove_prefix(1);
  const auto code = [](char c) { return static_cast<unsigned char>(c); };
  bool found = false;
  for (size_t i = 0; i < set.size();) {
    const bool is_range = i + 2 < set.size() && set[i + 1] == '-';
    const char last = set[is_range ? i + 2 : i];
    found |= code(set[i]) <= code(character) && code(character) <= code(last);
    i += is_range ? 3 : 1;
  }
  return found != excludes;
}

/// Matches one character with the beginning of a pattern that is not '*'. Returns the length of that beginning, 0 if it differs.
size_t match_one(std::string_view pattern, char character) {
  if (pattern.empty()) return 0;
  if (pattern[0] == '?') return 1;
  if (pattern[0] == '[')
    if (const size_t length = set_length(pattern); length != 0)
      return in_set(pattern.substr(0, length), character) ? length : 0;
  const size_t at = pattern[0] == '\\' && pattern.size() > 1 ? 1 : 0;
  return pattern[at] == character ? at + 1 : 0;
}

std::string joined(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(name);
}

/// The parts of a path between '/'.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end != 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

Result<bool> exists(Disk& disk, const std::string& path) {
  const Status status = disk.info(path).status();
  // FailedPrecondition: a part of the path is a file.
  if (status.ok()) return true;
  if (status.code() == Code::NotFound || status.code() == Code::FailedPrecondition) return false;
  return status;
}

/// The search for the paths that match a pattern.
class Search {
 public:
  Search(Disk& disk, std::vector<std::string_view> parts) : disk_(disk), parts_(std::move(parts)) {}

  /// Looks in `folder` for what matches the parts from `part` on; `below` is true under a folder that was found by a pattern.
  Status look(const std::string& folder, size_t part, bool below) {
    if (part == parts_.size()) {
      found_.push_back(folder);
      return {};
    }
    if (is_plain(parts_[part])) return look_plain(folder, part, below);
    const auto entries = disk_.list(folder.empty() ? "." : folder);
    if (!entries) return may_leave_out(entries.status(), below) ? Status{} : entries.status();
    for (const Disk::Entry& entry : *entries)
      if (matches(parts_[part], entry.name) && (entry.is_folder || part + 1 == parts_.size()))
        TROUPE_RETURN_IF_FAILED(look(joined(folder, entry.name), part + 1, true));
    return {};
  }

  std::vector<std::string> found() && {
    std::ranges::sort(found_);
    return std::move(found_);
  }

 private:
  Status look_plain(const std::string& folder, size_t part, bool below) {
    const std::string path = joined(folder, parts_[part]);
    if (part + 1 != parts_.size()) return look(path, part + 1, below);
    const auto there = exists(disk_, path);
    if (!there) return may_leave_out(there.status(), below) ? Status{} : there.status();
    if (*there) found_.push_back(path);
    return {};
  }

  static bool may_leave_out(const Status& status, bool below) {
    return status.code() == Code::NotFound || status.code() == Code::FailedPrecondition ||
           (below && status.code() == Code::PermissionDenied);
  }

  Disk& disk_;
  const std::vector<std::string_view> parts_;
  std::vector<std::string> found_;
};

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  size_t at = 0, i = 0;
  std::optional<size_t> star;  // behind the last '*'
  size_t taken = 0;            // up to where that '*' has taken the name
  while (i < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      taken = i;
    } else if (const size_t length = match_one(pattern.substr(at), name[i]); length != 0) {
      at += length;
      ++i;
    } else if (star) {
      at = *star;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Result<std::vector<std::string>> matching_paths(Disk& disk, const std::string& pattern) {
  if (pattern.empty()) return std::vector<std::string>{};
  if (is_plain(pattern)) {
    TROUPE_ASSIGN(const bool there, exists(disk, pattern));
    return there ? std::vector{pattern} : std::vector<std::string>{};
  }
  auto parts = parts_of(pattern);
  const std::string start = pattern[0] == '/' ? "/" : is_plain(parts[0]) ? "" : ".";
  Search search(disk, std::move(parts));
  TROUPE_RETURN_IF_FAILED(search.look(start, 0, false));
  return std::move(search).found();
}

}  // namespace troupe

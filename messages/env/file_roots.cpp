#include "messages/env/file_roots.h"

#include <algorithm>
#include <filesystem>

namespace troupe {
namespace {

namespace fs = std::filesystem;

/// Returns the path with all symbolic links followed, also those that
/// lead to no existing file, because creating a file follows them.
fs::path followed(const fs::path& path, std::error_code& error) {
  constexpr int max_links = 40;  // the limit of Linux
  fs::path now = fs::weakly_canonical(fs::absolute(path, error), error);
  for (int links = 0; !error && fs::is_symlink(fs::symlink_status(now)); ++links) {
    if (links == max_links) error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    if (!error) now = fs::weakly_canonical(now.parent_path() / fs::read_symlink(now, error), error);
  }
  return now;
}

bool lies_under(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

Status check_no_nul(const std::string& path) {
  if (path.find('\0') == std::string::npos) return {};
  return invalid_argument("the path '" + path.substr(0, path.find('\0')) + "...' contains a NUL byte");
}

/// Returns where a folder that must contain all files lies. A folder that is not found is no empty path: all files lie under that.
fs::path root_at(const std::string& folder) {
  const std::string what =
      "the folder '" + folder + "' that must contain all files (RuntimeOptions::roots, --root)";
  if (folder.empty()) throw Error(invalid_argument(what + " has no name; '.' is the working folder"));
  throw_if_failed(check_no_nul(folder));
  std::error_code error;
  const fs::path root = followed(folder, error).lexically_normal();
  if (error) throw Error(invalid_argument(what + " cannot be found: " + error.message()));
  return root.has_filename() ? root : root.parent_path();
}

}  // namespace

FileRoots::FileRoots(const std::vector<std::string>& folders) {
  for (const auto& folder : folders) folders_.push_back(root_at(folder).string());
}

Status FileRoots::check(const std::string& path) const {
  TROUPE_RETURN_IF_FAILED(check_no_nul(path));
  if (folders_.empty()) return {};
  const fs::path given(path);
  if (std::ranges::find(given, "..") != given.end())
    return Status(Code::PermissionDenied,
                  "'" + path + "' contains '..', which paths in requests must not contain");
  std::error_code error;
  const fs::path real = followed(given, error);
  const auto holds = [&](const std::string& root) { return lies_under(real, root); };
  if (!error && std::ranges::any_of(folders_, holds)) return {};
  std::string roots;
  for (const auto& folder : folders_) roots += (roots.empty() ? "'" : ", '") + folder + "'";
  return Status(Code::PermissionDenied,
                "'" + path + "' does not lie under a folder that this process may use: " + roots);
}

}  // namespace troupe

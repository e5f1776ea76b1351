#include "apps/http/socket_path.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace troupe::http {

Result<SocketPath> SocketPath::of(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string parent = whole.has_parent_path() ? whole.parent_path().string() : ".";
  Descriptor folder(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder && (errno == ENOENT || errno == ENOTDIR)) return not_found("there is no folder " + parent);
  if (!folder)
    return unavailable("cannot open the folder " + parent + ": " + std::generic_category().message(errno));
  std::string text = "/proc/self/fd/" + std::to_string(folder.number()) + '/' + whole.filename().string();
  return SocketPath(std::move(folder), std::move(text));
}

}  // namespace troupe::http

#include "apps/commands/standard_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace troupe::commands {
namespace {

constexpr const char* given_as = "-";
constexpr const char* known_as = "standard input";  // what errors name

/// Makes a file in the folder for temporary ones that ends with its descriptor. Sets `path` to the one that it has had.
Result<Descriptor> make_nameless_file(std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  if (error) return invalid_argument("there is no folder for temporary files (TMPDIR): " + error.message());
  path = (folder / "troupe-input-XXXXXX").string();
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file) return file_failure("create", path, errno);
  ::unlink(path.c_str());
  return file;
}

Status write_all(int to, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t now = ::write(to, bytes.data(), bytes.size());
    if (now >= 0)
      bytes.remove_prefix(static_cast<size_t>(now));
    else if (errno != EINTR)
      return file_failure("write", path, errno);
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> StandardInput::among(std::vector<std::string> files) {
  const auto times = std::ranges::count(files, given_as);
  if (times > 1)
    return invalid_argument("the standard input, '-', is named " + std::to_string(times) +
                            " times; it can be read once");
  if (times == 0) return files;
  TROUPE_RETURN_IF_FAILED(copy());
  std::ranges::replace(files, std::string(given_as), std::string(known_as));
  return files;
}

Status StandardInput::copy() {
  std::string path;
  TROUPE_ASSIGN(copy_, make_nameless_file(path));
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const ssize_t now = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (now == 0) return {};
    if (now > 0) {
      TROUPE_RETURN_IF_FAILED(write_all(copy_.number(), {piece.data(), static_cast<size_t>(now)}, path));
    } else if (errno != EINTR) {
      return file_failure("read", known_as, errno);
    }
  }
}

std::string StandardInput::copied_to() const { return "/proc/self/fd/" + std::to_string(copy_.number()); }

Result<std::unique_ptr<ReadableFile>> StandardInput::open(const std::string& path) {
  return copy_ && path == known_as ? real_.open(copied_to()) : ForwardingDisk::open(path);
}

Result<Disk::Info> StandardInput::info(const std::string& path) {
  return copy_ && path == known_as ? real_.info(copied_to()) : ForwardingDisk::info(path);
}

}  // namespace troupe::commands

#include "apps/observe/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace troupe::observe {
namespace {

Status cannot_write(const std::string& path, int error) {
  return unavailable("cannot write " + path + ": " + std::generic_category().message(error));
}

/// Returns 0, or why not all bytes were written.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t now = ::write(file, bytes.data(), bytes.size());
    if (now >= 0)
      bytes.remove_prefix(static_cast<size_t>(now));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

}  // namespace

Result<RecordFile> RecordFile::open(std::string path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return cannot_write(path, errno);
  return RecordFile(std::move(path), std::move(file));
}

Status RecordFile::append(std::string_view record) {
  const off_t end = ::lseek(file_.number(), 0, SEEK_END);
  const int error = end < 0 ? errno : write_all(file_.number(), record);
  if (error == 0) return {};
  // What was written of the record is taken away again.
  if (end >= 0 && ::ftruncate(file_.number(), end) != 0) return cannot_write(path_, errno);
  return cannot_write(path_, error);
}

}  // namespace troupe::observe

#include "messages/env/real_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace troupe {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT: return Code::NotFound;
    case EEXIST:
    case ENOTEMPTY: return Code::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::PermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::ResourceExhausted;
    case EIO: return Code::DataLoss;
    case EISDIR:
    case ENOTDIR:
    case EXDEV:
    case EBUSY: return Code::FailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP: return Code::InvalidArgument;
    default: return Code::Unknown;
  }
}

}  // namespace

Status file_failure(const std::string& what, const std::string& path, int error) {
  return {code_of(error), "cannot " + what + " '" + path + "': " + std::generic_category().message(error)};
}

namespace {

Status failed_to(const std::string& what, const std::string& path) { return file_failure(what, path, errno); }

/// Owns the descriptor of an open file, and knows its path for errors.
class OpenFile {
 public:
  OpenFile(int number, std::string path) : number_(number), path_(std::move(path)) {}
  OpenFile(OpenFile&& other) noexcept
      : number_(std::exchange(other.number_, -1)), path_(std::move(other.path_)) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }

  static Result<OpenFile> open(const std::string& path, int flags, const std::string& what) {
    int number = -1;
    do {
      number = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    } while (number < 0 && errno == EINTR);
    if (number < 0) return failed_to(what, path);
    return OpenFile(number, path);
  }

  int number() const { return number_; }
  const std::string& path() const { return path_; }

  Status sync() const { return ::fsync(number_) == 0 ? Status{} : failed_to("sync", path_); }
  Status close() {
    const int number = std::exchange(number_, -1);
    // After EINTR, Linux has closed the descriptor as well.
    return number < 0 || ::close(number) == 0 || errno == EINTR ? Status{} : failed_to("close", path_);
  }

 private:
  int number_;
  std::string path_;
};

class RealReadableFile final : public ReadableFile {
 public:
  explicit RealReadableFile(OpenFile file) : file_(std::move(file)) {}

  Result<uint64_t> size() override {
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) return failed_to("measure", file_.path());
    return static_cast<uint64_t>(status.st_size);
  }

  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    size_t done = 0;
    while (done < into.size()) {
      const ssize_t now =
          ::pread(file_.number(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      if (now == 0) break;
      if (now > 0)
        done += static_cast<size_t>(now);
      else if (errno != EINTR)
        return failed_to("read", file_.path());
    }
    return done;
  }

 private:
  OpenFile file_;
};

class RealWritableFile final : public WritableFile {
 public:
  explicit RealWritableFile(OpenFile file) : file_(std::move(file)) {}

  Status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t now = ::write(file_.number(), bytes.data(), bytes.size());
      if (now >= 0)
        bytes = bytes.subspan(static_cast<size_t>(now));
      else if (errno != EINTR)
        return failed_to("write", file_.path());
    }
    return {};
  }
  Status sync() override { return file_.sync(); }
  Status close() override { return file_.close(); }

 private:
  OpenFile file_;
};

const char* name_of_kind(mode_t mode) {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "of an unknown kind";
}

/// Fails unless this is the status of a regular file.
Status check_is_regular(const struct stat& status, const std::string& path, const std::string& what) {
  if (S_ISREG(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) return file_failure(what, path, EISDIR);
  return failed_precondition("cannot " + what + " '" + path + "': it is " + name_of_kind(status.st_mode) +
                             "; only regular files are read and written");
}

/// Opens a regular file. Nothing else is opened, and nothing is waited for: the other end of a pipe may never come.
Result<OpenFile> open_regular(const std::string& path, int flags, const std::string& what) {
  auto file = OpenFile::open(path, flags | O_NONBLOCK | O_NOCTTY, what);
  struct stat status {};
  if (!file) {  // so the system refuses a socket, and a pipe without a reader
    if (::stat(path.c_str(), &status) == 0) TROUPE_RETURN_IF_FAILED(check_is_regular(status, path, what));
    return file;
  }
  if (::fstat(file->number(), &status) != 0) return failed_to(what, path);
  TROUPE_RETURN_IF_FAILED(check_is_regular(status, path, what));
  return file;
}

Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, int flags,
                                                    const std::string& what) {
  TROUPE_ASSIGN(auto file, open_regular(path, O_WRONLY | O_CREAT | flags, what));
  return std::unique_ptr<WritableFile>(std::make_unique<RealWritableFile>(std::move(file)));
}

}  // namespace

Result<std::unique_ptr<ReadableFile>> RealDisk::open(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(roots_.check(path));
  TROUPE_ASSIGN(auto file, open_regular(path, O_RDONLY, "open"));
  return std::unique_ptr<ReadableFile>(std::make_unique<RealReadableFile>(std::move(file)));
}

Result<std::unique_ptr<WritableFile>> RealDisk::create(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(roots_.check(path));
  return open_writable(path, O_TRUNC, "create");
}

Result<std::unique_ptr<WritableFile>> RealDisk::append(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(roots_.check(path));
  return open_writable(path, O_APPEND, "append to");
}

Status RealDisk::rename(const std::string& from, const std::string& to) {
  TROUPE_RETURN_IF_FAILED(roots_.check(from));
  TROUPE_RETURN_IF_FAILED(roots_.check(to));
  return std::rename(from.c_str(), to.c_str()) == 0 ? Status{}
                                                    : failed_to("rename to '" + to + "' the file", from);
}

Status RealDisk::remove(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(roots_.check(path));
  return std::remove(path.c_str()) == 0 ? Status{} : failed_to("remove", path);
}

Status RealDisk::make_folder(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(roots_.check(path));
  return ::mkdir(path.c_str(), 0777) == 0 ? Status{} : failed_to("make the folder", path);
}

Status RealDisk::sync_folder(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(roots_.check(path));
  TROUPE_ASSIGN(const auto folder, OpenFile::open(path, O_RDONLY | O_DIRECTORY, "open"));
  return folder.sync();
}

Result<std::vector<Disk::Entry>> RealDisk::list(const std::string& folder) {
  TROUPE_RETURN_IF_FAILED(roots_.check(folder));
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return failed_to("list", folder);
  std::vector<Entry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (!entry && errno != 0) return failed_to("list", folder);
    if (!entry) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const auto about = info(std::string(folder).append("/").append(name));
    // The entry is left out if it was removed meanwhile, or is a symbolic link to nothing.
    if (about.ok()) entries.push_back({name, about->is_folder});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

Result<Disk::Info> RealDisk::info(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(roots_.check(path));
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failed_to("find", path);
  return Info{static_cast<uint64_t>(status.st_size), S_ISDIR(status.st_mode)};
}

}  // namespace troupe

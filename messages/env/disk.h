// Disk: files, as far as Troupe needs them, injected so that a simulated disk can be full, torn, or lose what
// was not synced. Calls block: they belong on file threads, never on the control thread. Any thread may use a
// Disk; one at a time a file. Paths are those of the system, with '/'. Failures name the path: NotFound,
// AlreadyExists, PermissionDenied, ResourceExhausted (no space left), DataLoss (the medium fails),
// FailedPrecondition (a folder where a file is expected, or the other way round).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual Result<uint64_t> size() = 0;
  /// Fills `into` from byte `offset` on; how many bytes there were, fewer only at the end of the file.
  virtual Result<size_t> read(uint64_t offset, std::span<std::byte> into) = 0;
};

/// What has been written survives the process; only what has been synced survives the machine.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  ///< closes; who wants to know whether that went well calls close()
  /// At the end of the file. When it fails, any part may have been written.
  virtual Status write(std::span<const std::byte> bytes) = 0;
  virtual Status sync() = 0;
  virtual Status close() = 0;
};

class Disk {
 public:
  struct Info {
    uint64_t bytes = 0;
    bool is_folder = false;
  };
  struct Entry {
    std::string name;
    bool is_folder = false;
  };

  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<ReadableFile>> open(const std::string& path) = 0;
  /// An empty file, whatever was there before.
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  /// An existing file or a new one, to be continued.
  virtual Result<std::unique_ptr<WritableFile>> append(const std::string& path) = 0;
  /// Replaces a file at `to` in one moment. That it happened is durable after sync_folder().
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// A file or an empty folder.
  virtual Status remove(const std::string& path) = 0;
  /// One level; AlreadyExists when there is anything of that name.
  virtual Status make_folder(const std::string& path) = 0;
  /// Makes durable which names stand in a folder: the files created, renamed and removed there.
  virtual Status sync_folder(const std::string& path) = 0;
  /// Ordered by name.
  virtual Result<std::vector<Entry>> list(const std::string& folder) = 0;
  virtual Result<Info> info(const std::string& path) = 0;
};

/// "a/b" of "a/b/c", "." of "c", "/" of "/c".
std::string folder_of(std::string_view path);

/// Makes the folder and those above it, for good; one that is there already is fine.
Status make_folders(Disk& disk, const std::string& path);

/// The whole file. ResourceExhausted when it is longer than `most` bytes.
Result<std::string> read_file(Disk& disk, const std::string& path, uint64_t most);

/// A file that appears under its name only when it is whole and on disk:
/// written as path + ".new", synced, renamed, its folder synced. One writer
/// at a time per path; a ".new" left by a crash is overwritten by the next.
class NewFile {
 public:
  static Result<NewFile> create(Disk& disk, std::string path);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  ///< without commit() nothing remains

  Status write(std::span<const std::byte> bytes) { return file_->write(bytes); }
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  /// After Ok the file is there for good. After a failure
  /// the old one may be there or the new one, never a part.
  Status commit();

 private:
  NewFile(Disk& disk, std::string path, std::unique_ptr<WritableFile> file)
      : disk_(&disk), path_(std::move(path)), file_(std::move(file)) {}
  std::string temporary() const { return path_ + ".new"; }

  Disk* disk_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;  // null once committed, or moved from
};

}  // namespace troupe

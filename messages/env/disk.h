// Disk: the interface to files. It is injected, so that a simulated disk can be full, fail, or lose what was
// not synced. Calls block, so they are made on file threads, never on the control thread. Any thread may use
// a Disk; one thread at a time may use a file. Paths are those of the operating system, with '/'. Failures
// name the path: NotFound, AlreadyExists, PermissionDenied, ResourceExhausted (no space left), DataLoss (the
// medium fails), FailedPrecondition (a folder where a file is expected, or a file where a folder is).
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
  /// Fills `into` from byte `offset` on. Returns the number of bytes
  /// read, which is less than asked for only at the end of the file.
  virtual Result<size_t> read(uint64_t offset, std::span<std::byte> into) = 0;
};

/// A file open for writing. Written bytes survive the end of the process; only synced bytes survive a crash of the machine.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  ///< closes the file and ignores failures; close() reports them
  /// Appends the bytes. After a failure any part of them may have been written.
  virtual Status write(std::span<const std::byte> bytes) = 0;
  /// Makes what was written durable.
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
  /// Opens an existing file for reading.
  virtual Result<std::unique_ptr<ReadableFile>> open(const std::string& path) = 0;
  /// Makes an empty file, replacing the file that was there before.
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  /// Opens a file for writing at its end. Makes it if it does not exist.
  virtual Result<std::unique_ptr<WritableFile>> append(const std::string& path) = 0;
  /// Renames a file and replaces the one at `to` atomically. The change is durable after sync_folder().
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file or an empty folder.
  virtual Status remove(const std::string& path) = 0;
  /// Makes one folder, not those above it. Fails with AlreadyExists if the name is taken.
  virtual Status make_folder(const std::string& path) = 0;
  /// Makes durable which names are in a folder: all files that were created, renamed and removed there.
  virtual Status sync_folder(const std::string& path) = 0;
  /// Returns the entries, ordered by name.
  virtual Result<std::vector<Entry>> list(const std::string& folder) = 0;
  /// Fails with NotFound if there is no file or folder of this name.
  virtual Result<Info> info(const std::string& path) = 0;
  /// Returns whether a file that is created at this path appears when it is closed, whole and durable, and not before. Otherwise it
  /// appears empty when it is created.
  virtual bool appears_when_closed(const std::string& /*path*/) const { return false; }
};

/// Returns the folder that contains a path: "a/b" of "a/b/c", "." of "c", "/" of "/c".
std::string folder_of(std::string_view path);

/// Makes a folder and those above it, durably. Succeeds if the folder exists already.
Status make_folders(Disk& disk, const std::string& path);

/// Returns the content of a file. Fails with ResourceExhausted if the file has more than `max_bytes` bytes.
Result<std::string> read_file(Disk& disk, const std::string& path, uint64_t max_bytes);

/// Writes a file that appears under its name only when it is complete and durable. The content goes to path + ".new" first, which
/// is then synced and renamed, unless files appear when they are closed. One writer per path. What a crash leaves is overwritten.
class NewFile {
 public:
  static Result<NewFile> create(Disk& disk, std::string path);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  ///< removes the ".new" file unless commit() succeeded

  Status write(std::span<const std::byte> bytes) { return file_->write(bytes); }
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  /// Makes the file durable under its name. After a failure the name refers to either the old or the new content, never to a part.
  Status commit();

 private:
  NewFile(Disk& disk, std::string path, std::unique_ptr<WritableFile> file)
      : disk_(&disk), path_(std::move(path)), file_(std::move(file)) {}
  bool is_renamed() const { return !disk_->appears_when_closed(path_); }
  std::string temporary() const { return path_ + ".new"; }

  Disk* disk_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;  // null after commit(), or when moved from
};

}  // namespace troupe

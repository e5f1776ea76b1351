#include "messages/env/disk.h"

#include <new>

namespace troupe {

std::string folder_of(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

Status make_folders(Disk& disk, const std::string& path) {
  if (disk.appears_when_closed(path)) return {};  // a store of objects, where folders come with their files
  const auto there = disk.info(path);
  if (there.ok())
    return there->is_folder ? Status{}
                            : failed_precondition("'" + path + "' is a file where a folder is needed");
  if (there.status().code() != Code::NotFound) return there.status();
  const std::string above = folder_of(path);
  if (above != path) TROUPE_RETURN_IF_FAILED(make_folders(disk, above));
  const Status made = disk.make_folder(path);
  if (made.code() == Code::AlreadyExists) return {};  // another process made it meanwhile
  TROUPE_RETURN_IF_FAILED(made);
  return disk.sync_folder(above);
}

Result<std::string> read_file(Disk& disk, const std::string& path, uint64_t max_bytes) {
  TROUPE_ASSIGN(const auto file, disk.open(path));
  TROUPE_ASSIGN(const uint64_t size, file->size());
  if (size > max_bytes)
    return resource_exhausted("'" + path + "' has " + std::to_string(size) + " bytes; at most " +
                              std::to_string(max_bytes) + " bytes are allowed");
  std::string content;
  try {
    content.resize(size);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("'" + path + "' has " + std::to_string(size) +
                              " bytes, for which there is no memory");
  }
  TROUPE_ASSIGN(const size_t read, file->read(0, std::as_writable_bytes(std::span(content))));
  content.resize(read);
  return content;
}

Result<NewFile> NewFile::create(Disk& disk, std::string path) {
  TROUPE_ASSIGN(auto file, disk.create(disk.appears_when_closed(path) ? path : path + ".new"));
  return NewFile(disk, std::move(path), std::move(file));
}

NewFile::~NewFile() {
  if (!file_) return;
  file_.reset();
  // A destructor cannot report a failure. If the file stays, the next writer overwrites it.
  if (is_renamed()) (void)disk_->remove(temporary());
}

Status NewFile::commit() {
  TROUPE_RETURN_IF_FAILED(file_->sync());
  TROUPE_RETURN_IF_FAILED(file_->close());
  if (is_renamed()) TROUPE_RETURN_IF_FAILED(disk_->rename(temporary(), path_));
  file_.reset();
  return disk_->sync_folder(folder_of(path_));
}

}  // namespace troupe

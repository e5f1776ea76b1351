#include "messages/objects/file_places.h"

#include <algorithm>

namespace troupe {
namespace {

bool is_object(const std::string& path) { return path.starts_with("s3://"); }

}  // namespace

FilePlaces::FilePlaces(Disk& files, Result<std::unique_ptr<ObjectDisk>> objects,
                       std::vector<std::string> roots)
    : files_(files), objects_(std::move(objects)), roots_(std::move(roots)) {
  for (std::string& root : roots_)
    if (!root.ends_with('/')) root += '/';
}

// Keys are plain text, in which ".." has no meaning.
Result<Disk*> FilePlaces::at(const std::string& path) const {
  if (!is_object(path)) return &files_;
  const auto holds = [&](const std::string& root) {
    return is_object(root) && (path + '/').starts_with(root);
  };
  if (!roots_.empty() && std::ranges::none_of(roots_, holds))
    return Status(
        Code::PermissionDenied,
        "'" + path + "' does not lie under a folder of the store that this process may use (--root)");
  if (!objects_) return Status(objects_.status().code(), "'" + path + "': " + objects_.status().message());
  return static_cast<Disk*>(objects_->get());
}

Result<std::unique_ptr<ReadableFile>> FilePlaces::open(const std::string& path) {
  TROUPE_ASSIGN(Disk* const disk, at(path));
  return disk->open(path);
}

Result<std::unique_ptr<WritableFile>> FilePlaces::create(const std::string& path) {
  TROUPE_ASSIGN(Disk* const disk, at(path));
  return disk->create(path);
}

Result<std::unique_ptr<WritableFile>> FilePlaces::append(const std::string& path) {
  TROUPE_ASSIGN(Disk* const disk, at(path));
  return disk->append(path);
}

Status FilePlaces::rename(const std::string& from, const std::string& to) {
  TROUPE_ASSIGN(Disk* const disk, at(from));
  TROUPE_ASSIGN(Disk* const other, at(to));
  if (disk != other) return unimplemented("cannot rename '" + from + "' to '" + to + "' in another place");
  return disk->rename(from, to);
}

Status FilePlaces::remove(const std::string& path) {
  TROUPE_ASSIGN(Disk* const disk, at(path));
  return disk->remove(path);
}

Status FilePlaces::make_folder(const std::string& path) {
  TROUPE_ASSIGN(Disk* const disk, at(path));
  return disk->make_folder(path);
}

Status FilePlaces::sync_folder(const std::string& path) {
  TROUPE_ASSIGN(Disk* const disk, at(path));
  return disk->sync_folder(path);
}

Result<std::vector<Disk::Entry>> FilePlaces::list(const std::string& folder) {
  TROUPE_ASSIGN(Disk* const disk, at(folder));
  return disk->list(folder);
}

Result<Disk::Info> FilePlaces::info(const std::string& path) {
  TROUPE_ASSIGN(Disk* const disk, at(path));
  return disk->info(path);
}

bool FilePlaces::appears_when_closed(const std::string& path) const {
  const auto disk = at(path);
  return disk && (*disk)->appears_when_closed(path);
}

}  // namespace troupe

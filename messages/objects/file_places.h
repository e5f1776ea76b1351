// FilePlaces: the disk of a process whose files lie in folders of the machine or, if their paths begin with "s3://", in a store
// of objects. It has no mutable state; any thread may use it.
#pragma once

#include "messages/objects/s3_disk.h"

namespace troupe {

class FilePlaces final : public Disk {
 public:
  /// `objects` may be a failure: that of all files in the store. If `roots` are given, files in the store must lie under one of
  /// them that begins with "s3://". `files` must outlive this object.
  FilePlaces(Disk& files, Result<std::unique_ptr<ObjectDisk>> objects, std::vector<std::string> roots = {});

  /// Ends the calls for files in the store.
  void stop() {
    if (objects_) (*objects_)->stop();
  }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> append(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_folder(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<Entry>> list(const std::string& folder) override;
  Result<Info> info(const std::string& path) override;
  bool appears_when_closed(const std::string& path) const override;

 private:
  Result<Disk*> at(const std::string& path) const;

  Disk& files_;
  const Result<std::unique_ptr<ObjectDisk>> objects_;
  std::vector<std::string> roots_;  ///< each with '/' at its end
};

}  // namespace troupe

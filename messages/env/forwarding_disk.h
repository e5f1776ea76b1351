// ForwardingDisk: a disk that is another one, for disks that do some things otherwise. It has no state; any thread, as the other
// disk.
#pragma once

#include "messages/env/disk.h"

namespace troupe {

class ForwardingDisk : public Disk {
 public:
  /// `disk` must outlive this object.
  explicit ForwardingDisk(Disk& disk) : disk_(disk) {}

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override { return disk_.open(path); }
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    return disk_.create(path);
  }
  Result<std::unique_ptr<WritableFile>> append(const std::string& path) override {
    return disk_.append(path);
  }
  Status rename(const std::string& from, const std::string& to) override { return disk_.rename(from, to); }
  Status remove(const std::string& path) override { return disk_.remove(path); }
  Status make_folder(const std::string& path) override { return disk_.make_folder(path); }
  Status sync_folder(const std::string& path) override { return disk_.sync_folder(path); }
  Result<std::vector<Entry>> list(const std::string& folder) override { return disk_.list(folder); }
  Result<Info> info(const std::string& path) override { return disk_.info(path); }
  bool appears_when_closed(const std::string& path) const override { return disk_.appears_when_closed(path); }

 private:
  Disk& disk_;
};

}  // namespace troupe

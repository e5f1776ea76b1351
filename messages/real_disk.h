// RealDisk: the files of this machine, by POSIX calls. Stateless; any thread.
#pragma once

#include "messages/disk.h"

namespace troupe {

class RealDisk final : public Disk {
 public:
  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> append(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_folder(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<Entry>> list(const std::string& folder) override;
  Result<Info> info(const std::string& path) override;
};

}  // namespace troupe

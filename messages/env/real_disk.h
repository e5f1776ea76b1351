// RealDisk: the regular files of this machine, or of some folders; it refuses pipes and devices. No mutable state; any thread.
#pragma once

#include <utility>

#include "messages/env/disk.h"
#include "messages/env/file_roots.h"

namespace troupe {

/// Returns the failure to do `what`, such as "open", to a file or folder, with the code that fits an errno.
Status file_failure(const std::string& what, const std::string& path, int error);

class RealDisk final : public Disk {
 public:
  explicit RealDisk(FileRoots roots = FileRoots()) : roots_(std::move(roots)) {}

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> append(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_folder(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<Entry>> list(const std::string& folder) override;
  Result<Info> info(const std::string& path) override;

 private:
  const FileRoots roots_;
};

}  // namespace troupe

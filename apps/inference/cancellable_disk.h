// CancellableDisk: another disk, whose files are read and written only until a Cancellation is cancelled. So whatever reads or
// writes long files there can be cancelled. What has been written can still be removed then. Any thread, as the other disk.
#pragma once

#include "kernels/runtime/cancellation.h"
#include "messages/env/forwarding_disk.h"

namespace troupe::inference {

class CancellableDisk final : public ForwardingDisk {
 public:
  /// `disk` and `cancellation`, which may be null, must outlive this object and its files. Opening, reading and writing files, and
  /// listing folders, fail with Cancelled once it is cancelled; of a long read or write, no more than a piece is done then.
  CancellableDisk(Disk& disk, const Cancellation* cancellation)
      : ForwardingDisk(disk), cancellation_(cancellation) {}

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> append(const std::string& path) override;
  Result<std::vector<Entry>> list(const std::string& folder) override;

 private:
  const Cancellation* const cancellation_;
};

}  // namespace troupe::inference

// The files of a store of objects: paths are "s3://BUCKET/KEY", and folders are the prefixes of keys. A file appears, whole and
// durable, when it is closed; until then nothing of it is to be seen. Files cannot be renamed or appended to. A folder exists
// while it has a file, so making one does nothing.
#pragma once

#include <memory>

#include "messages/env/disk.h"
#include "messages/objects/s3_options.h"

namespace troupe {

class ObjectDisk : public Disk {
 public:
  /// Ends all calls; they fail with Cancelled, as do later ones. Any thread.
  virtual void stop() = 0;
};

/// Fails with Unimplemented if this program was built without libcurl.
Result<std::unique_ptr<ObjectDisk>> make_s3_disk(const S3Options& options);

}  // namespace troupe

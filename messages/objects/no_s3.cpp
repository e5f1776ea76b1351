// In place of the store of objects in programs that are built without libcurl.
#include "messages/objects/s3_disk.h"

namespace troupe {

Result<std::unique_ptr<ObjectDisk>> make_s3_disk(const S3Options&) {
  return unimplemented(
      "this program was built without libcurl, so it has no files of s3:// (CMake option TROUPE_S3)");
}

}  // namespace troupe

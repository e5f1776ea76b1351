// The store of objects that the environment of this process and a run file name.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "messages/env/real_disk.h"
#include "messages/objects/file_places.h"
#include "messages/objects/s3_options.h"

namespace troupe::commands {

/// Returns the store with the access key in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. If `endpoint` or
/// `region` is empty, it is that of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, and of AWS_REGION or AWS_DEFAULT_REGION.
S3Options object_store(const std::string& endpoint = {}, const std::string& region = {});

/// The disk of this machine and a store of objects: the one that holds the models whose paths begin with s3://, or the checkpoints
/// of the runs among them. Only one store is used. Any thread may use the disk.
class ModelDisk {
 public:
  /// `paths` are those that the user gives. Where none leads to a store, files in it are not found.
  explicit ModelDisk(std::initializer_list<std::string> paths) : ModelDisk(std::vector<std::string>(paths)) {}
  explicit ModelDisk(const std::vector<std::string>& paths);

  Disk& operator*() { return places_; }

 private:
  RealDisk files_;
  FilePlaces places_;
};

}  // namespace troupe::commands

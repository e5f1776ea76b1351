// ModelDisk: the files of trained models, in folders of this machine or in a store of objects. Made by a subcommand for the paths
// that it was given.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "messages/env/real_disk.h"
#include "messages/objects/file_places.h"

namespace troupe::commands {

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

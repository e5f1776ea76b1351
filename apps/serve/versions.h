// Versions of a model on disk. Functions without state that read files; any thread that may block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::serve {

struct VersionPlace {
  int64_t number = 0;
  std::string path;  ///< for load()

  friend bool operator==(const VersionPlace&, const VersionPlace&) = default;
};

/// Returns the versions at a path, the newest last: the checkpoints of a run, by their steps; the models or runs in folders named
/// by numbers, as TensorFlow Serving has them; or a single saved model, as version 1. Fails with NotFound if there is none.
Result<std::vector<VersionPlace>> find_versions(Disk& disk, const std::string& path);

}  // namespace troupe::serve

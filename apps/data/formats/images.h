// What runs need of the format images beside its samples: classes and paths. Functions without state; any thread that may block.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::data {

/// Returns the names of the folders in folders of images. Fails as the disk does.
Result<std::set<std::string>> image_classes(Disk& disk, std::span<const std::string> folders);
/// Returns the paths of the images that are read without labels from folders or files, in the order of the samples. Fails as
/// opening them does.
Result<std::vector<std::string>> image_files(Disk& disk, std::span<const std::string> paths);

}  // namespace troupe::data

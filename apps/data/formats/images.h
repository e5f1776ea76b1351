// The classes of the format images. A function without state; any thread that may block.
#pragma once

#include <set>
#include <span>
#include <string>

#include "messages/env/disk.h"

namespace troupe::data {

/// Returns the names of the folders in folders of images. Fails as the disk does.
Result<std::set<std::string>> image_classes(Disk& disk, std::span<const std::string> folders);

}  // namespace troupe::data

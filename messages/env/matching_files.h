// The files whose paths match a pattern, as shells do it: '*' and '?' for characters other than '/', and '[a-z]'. A function
// without state; any thread that may block.
#pragma once

#include "messages/env/disk.h"

namespace troupe {

/// Returns the paths of the files and folders that match, ordered by name; none if there are none.
Result<std::vector<std::string>> matching_files(Disk& disk, const std::string& pattern);

}  // namespace troupe

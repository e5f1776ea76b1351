// Glob: finds files by patterns. Blocks as Disk does, so it is called on file threads. Functions without state; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/env/disk.h"

namespace troupe {

/// Returns whether a name without '/' matches a pattern: '*' stands for any characters, '?' for one, "[a-z_]" for one of a set,
/// "[!a-z]" or "[^a-z]" for one that is not of the set, and '\' takes away the meaning of the next character. A '[' without its ']'
/// stands for itself. Takes time in proportion to the product of both lengths.
bool matches(std::string_view pattern, std::string_view name);

/// Returns the files and folders whose path matches a pattern, part by part between '/', in ascending order; none if a folder does
/// not exist. As in TensorFlow, paths begin as the pattern does, with "./" if its first part is no plain folder. Folders below the
/// plain beginning of the pattern that may not be read are left out; other failures of the disk are returned.
Result<std::vector<std::string>> matching_paths(Disk& disk, const std::string& pattern);

}  // namespace troupe

// Patterns of files, such as "shards/train-*.tfrecord" (messages/env/glob.h): the files of a data set that they stand for.
// Functions without state; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/data/options.h"
#include "messages/env/disk.h"

namespace troupe::data {

/// Returns whether a path has one of the characters of patterns: '*', '?' or '['.
bool is_pattern(std::string_view path);
/// Returns whether one of the paths is a pattern.
bool has_pattern(const std::vector<std::string>& paths);
/// Returns the folder in which everything lies that a pattern may match.
std::string folder_of_pattern(std::string_view pattern);

/// Returns options in which each pattern has been replaced by the files that match it, in the order of their paths; for images
/// these are folders. A path that exists is no pattern. Names that begin with '.' match only a pattern that begins so, too.
/// Fails with NotFound, naming pattern and folder, if nothing matches, with DataLoss if there is not one label file for each
/// file, and with the error of the disk.
Result<Options> with_matching_files(Disk& disk, Options options);

}  // namespace troupe::data

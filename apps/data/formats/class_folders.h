// What runs need of the formats images and sounds beside their samples: classes and paths. Functions without state; any thread that
// may block.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::data {

/// A kind of files that each hold one sample.
struct FileKind {
  std::string_view format;   ///< the value of data.format: "images"
  std::string_view endings;  ///< of the names, as errors show them: ".jpg, .jpeg, .png, .gif, .bmp"
  bool (*is_name)(std::string name);
};

/// Returns the kind of files that a format reads from folders; null for a format whose files hold several samples.
const FileKind* file_kind(std::string_view format);

/// The folder of each class, in the order of their numbers, and how many files it has.
using ClassSizes = std::vector<std::pair<std::string, int64_t>>;
/// Returns how many files a folder has for each class, and calls `look` with some of the files of each. Fails with InvalidArgument
/// if there are fewer than two classes, or one has no file of this kind, as `look` does, and as the disk does.
Result<ClassSizes> survey_classes(Disk& disk, const FileKind& kind, const std::string& folder,
                                  const std::function<Status(const std::string& file)>& look);

/// Returns the names of the folders in these folders. Fails as the disk does.
Result<std::set<std::string>> class_folders(Disk& disk, std::span<const std::string> folders);
/// Returns the paths of the files that are read without labels from folders or files, in the order of the samples. Fails as
/// opening them does.
Result<std::vector<std::string>> files_without_labels(Disk& disk, const FileKind& kind,
                                                      std::span<const std::string> paths);

}  // namespace troupe::data

// What a folder of images seems to be, for a first run file: its classes and the sizes of its images. A function without state; any
// thread that may block.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::data {

struct ImageSurvey {
  /// The folder of each class, in the order of their numbers, and how many images it has.
  std::vector<std::pair<std::string, int64_t>> classes;
  int64_t images = 0;
  int64_t height = 0, width = 0;  ///< the medians of some images
  bool one_size = true;           ///< whether these images all have the same size
  bool has_colours = false;       ///< whether one of these images has more than one channel
};

/// Surveys a folder that has a folder for each class. Fails with InvalidArgument if there are fewer than two classes, or one has no
/// image, with DataLoss, naming the file, if one of the images that are looked at is damaged, and as the disk does.
Result<ImageSurvey> survey_images(Disk& disk, const std::string& folder);

}  // namespace troupe::data

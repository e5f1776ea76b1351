// What a folder of images seems to be, for a first run file: its classes and the sizes of its images. A function without state; any
// thread that may block.
#pragma once

#include "apps/data/formats/class_folders.h"

namespace troupe::data {

struct ImageSurvey {
  ClassSizes classes;
  int64_t height = 0, width = 0;  ///< the medians of some images
  bool one_size = true;           ///< whether these images all have the same size
  bool has_colours = false;       ///< whether one of these images has more than one channel
};

/// Surveys a folder that has a folder for each class. Fails as survey_classes() does, and with DataLoss, naming the file, if one of
/// the images that are looked at is damaged.
Result<ImageSurvey> survey_images(Disk& disk, const std::string& folder);

}  // namespace troupe::data

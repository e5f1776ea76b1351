// What a folder of sounds seems to be, for a first run file: its classes, and the rate and the length of its sounds. A function
// without state; any thread that may block.
#pragma once

#include "apps/data/formats/class_folders.h"

namespace troupe::data {

struct SoundSurvey {
  ClassSizes classes;
  int64_t rate = 0;    ///< frames per second, of all sounds that were looked at
  int64_t frames = 0;  ///< the most that one of them has
};

/// Surveys a folder that has a folder for each class. Fails as survey_classes() does, with DataLoss, naming the file, if one of the
/// sounds that are looked at is damaged, and with InvalidArgument if they have different rates.
Result<SoundSurvey> survey_sounds(Disk& disk, const std::string& folder);

}  // namespace troupe::data

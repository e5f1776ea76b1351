// First run files for images and for sounds in a folder for each class, with comments: a convolutional network of a size that suits
// them, and how it is trained. Functions without state; any thread.
#pragma once

#include <string>

#include "apps/data/formats/image_survey.h"
#include "apps/data/formats/sound_survey.h"

namespace troupe::runs {

/// The names in a first run file.
struct FirstFileNames {
  std::string path;  ///< of the folder, as the run file is to name it
  std::string name;  ///< of the run
  std::string file;  ///< the run file, as `troupe train` takes it
};

/// Return the text of the run file.
std::string first_images_file(const data::ImageSurvey& survey, const FirstFileNames& names);
std::string first_sounds_file(const data::SoundSurvey& survey, const FirstFileNames& names);

}  // namespace troupe::runs

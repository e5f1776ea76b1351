// A first run file for images in a folder for each class, with comments: a convolutional network of a size that suits them, and how
// it is trained. A function without state; any thread.
#pragma once

#include <string>

#include "apps/data/formats/image_survey.h"

namespace troupe::runs {

/// Returns the text of the run file. `path` is the folder as the run file is to name it, `name` the name of the run, `file` the run
/// file as `troupe train` takes it.
std::string first_images_file(const data::ImageSurvey& survey, const std::string& path,
                              const std::string& name, const std::string& file);

}  // namespace troupe::runs

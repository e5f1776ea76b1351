#include "apps/data/formats/sound_survey.h"

#include <algorithm>

#include "apps/data/file_content.h"
#include "kernels/ops/audio/wav.h"

namespace troupe::data {

Result<SoundSurvey> survey_sounds(Disk& disk, const std::string& folder) {
  SoundSurvey survey;
  std::string first;  // the file that was looked at first
  const auto look = [&](const std::string& file) -> Status {
    TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_sample_bytes));
    const auto sound = read_wav(bytes);
    if (!sound) return data_loss(file + ": " + sound.status().text());
    if (first.empty()) {
      first = file;
      survey.rate = sound->rate;
    }
    if (sound->rate != survey.rate)
      return invalid_argument(file + " has " + std::to_string(sound->rate) + " samples per second, and " +
                              first + " has " + std::to_string(survey.rate) +
                              "; all sounds must have one rate: `sox IN.wav -r RATE OUT.wav` changes it");
    survey.frames = std::max(survey.frames, sound->frames);
    return {};
  };
  TROUPE_ASSIGN(survey.classes, survey_classes(disk, *file_kind("sounds"), folder, look));
  return survey;
}

}  // namespace troupe::data

#include "apps/runs/first_images_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/runs/first_file_parts.h"

namespace troupe::runs {
namespace {

using data::ImageSurvey;

/// The sides that images get, unless they are all small ones of one size.
constexpr std::array<int64_t, 5> sides = {32, 48, 64, 96, 128};
constexpr int64_t most_side = 128;
/// The most bytes that decoded images may take in memory.
constexpr int64_t most_bytes = int64_t{1} << 29;

/// The images as the model gets them.
struct Size {
  int64_t height = 0, width = 0, channels = 0;
  bool is_native = false;  ///< that of the files

  int64_t bytes() const { return height * width * channels * static_cast<int64_t>(sizeof(float)); }
  std::string shape() const { return fmt::format("[{}, {}, {}]", height, width, channels); }
};

Size size_of(const ImageSurvey& survey) {
  const int64_t channels = survey.has_colours ? 3 : 1;
  if (survey.one_size && std::max(survey.height, survey.width) <= most_side)
    return {survey.height, survey.width, channels, true};
  const int64_t given = std::min(survey.height, survey.width);
  int64_t side = sides.front();
  for (const int64_t one : sides)
    if (one <= given) side = one;
  return {side, side, channels, false};
}

std::string head(const ImageSurvey& survey, const std::string& path, const std::string& name,
                 const std::string& file) {
  return fmt::format(
      "# Says which of {} classes an image has, learnt from {} images in {}.\n"
      "# Written by `troupe init`; change what you know better.\n"
      "#   {:<28}  trains; results go to runs/{}/NNN/\n"
      "#   troupe help keys data         explains the keys\n"
      "run = {{ name = {}, seed = 1 }}\n\n",
      survey.classes.size(), survey.images, path, "troupe train " + file, name, quoted(name));
}

/// Returns the classes with the numbers of their images, as far as they fit in a line.
std::string classes_of(const ImageSurvey& survey) {
  constexpr size_t most_named = 6;
  std::string text;
  for (size_t i = 0; i < std::min(survey.classes.size(), most_named); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", survey.classes[i].first, survey.classes[i].second);
  return text + (survey.classes.size() > most_named ? ", ..." : "");
}

std::string data(const ImageSurvey& survey, const std::string& path, const Size& size) {
  const int64_t batch = survey.images < 500 ? 16 : survey.images < 5000 ? 32 : 64;
  const bool fits = survey.images * size.bytes() <= most_bytes;
  std::string text = fmt::format(
      "[data]\nformat = \"images\"\n{:<36} # a folder for each class: {}\n"
      "{:<36} # held out, to see what the model does with new images\nbatch = {}\n{:<36} # each image is "
      "decoded once\n\n",
      "train = [" + quoted(path) + "]", classes_of(survey), "valid = { split = 0.2, stratify = true }", batch,
      fits ? "cache = \"memory\"" : "cache = \"file\"");
  std::string image = fmt::format("decode_image(image, channels={}, expand_animations=false)", size.channels);
  std::string comment;
  if (size.is_native) {
    image = fmt::format("reshape(cast({}, 'float'), {})", image, size.shape());
  } else {
    image = fmt::format("reshape(resize_bilinear(expand_dims({}, 0), [{}, {}]), {})", image, size.height,
                        size.width, size.shape());
    comment = fmt::format("   # of {}{} x {} in the files", survey.one_size ? "" : "about ", survey.height,
                          survey.width);
  }
  text += fmt::format("[data.map]\nimage = \"{} / 255.0\"{}\n\n", image, comment);
  const int64_t shift = std::max<int64_t>(1, std::min(size.height, size.width) / 12);
  return text + fmt::format(
                    "[data.augment]                       # of the images to train on, in each epoch anew\n"
                    "image = \"slice(pad(image, [[{0}, {0}], [{0}, {0}], [0, 0]]), "
                    "concat([random_uniform_int([2], 0, {1}), "
                    "[0]], 0), {2})\"   # is shifted\n\n",
                    shift, 2 * shift + 1, size.shape());
}

std::string model(const ImageSurvey& survey, const Size& size) {
  std::string text = "[model]\nlayers = [\n";
  int64_t filters = 16;
  for (int64_t side = std::min(size.height, size.width); side >= 8 && filters <= 128; side /= 2, filters *= 2)
    text += fmt::format(
        "  {{ type = \"conv2d\", filters = {}, kernel = 3, bias = false }},\n"
        "  {{ type = \"batch_norm\", activation = \"relu\", decay = 0.9 }},\n"
        "  {{ type = \"max_pool2d\" }},\n",
        filters);
  return text + fmt::format(
                    "  {{ type = \"flatten\" }},\n  {{ type = \"dropout\", rate = 0.3 }},\n"
                    "  {{ type = \"dense\", units = {}, name = \"logits\" }},   # one for each class\n]\n\n",
                    survey.classes.size());
}

std::string train(const ImageSurvey& survey) {
  return "[train]\nloss = \"softmax_cross_entropy\"\n" +
         advice_on_rare_classes({survey.classes.begin(), survey.classes.end()}) +
         "metrics = [\"accuracy\", \"f1\"]\noptimizer = { type = \"adam\", lr = 2e-3 }\nmax_epochs = 50\n"
         "early_stop = { monitor = \"valid/loss\", mode = \"min\", patience = 10, keep_best = true }\n";
}

}  // namespace

std::string first_images_file(const ImageSurvey& survey, const std::string& path, const std::string& name,
                              const std::string& file) {
  const Size size = size_of(survey);
  return head(survey, path, name, file) + data(survey, path, size) + model(survey, size) + train(survey);
}

}  // namespace troupe::runs

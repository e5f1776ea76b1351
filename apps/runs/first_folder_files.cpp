#include "apps/runs/first_folder_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "apps/runs/first_file_parts.h"

namespace troupe::runs {
namespace {

using data::ClassSizes;
using data::ImageSurvey;
using data::SoundSurvey;

/// The most bytes that decoded files may take in memory.
constexpr int64_t most_bytes = int64_t{1} << 29;

// ---- Parts that do not depend on what the files hold

int64_t files_of(const ClassSizes& classes) {
  int64_t files = 0;
  for (const auto& [name, count] : classes) files += count;
  return files;
}

/// `sample` is what a file holds, "image"; `samples` are several.
std::string head(const ClassSizes& classes, const FirstFileNames& names, std::string_view sample,
                 std::string_view samples) {
  return fmt::format(
      "# Says which of {} classes {} {} has, learnt from {} {} in {}.\n"
      "# Written by `troupe init`; change what you know better.\n"
      "#   {:<28}  trains; results go to runs/{}/NNN/\n"
      "#   troupe help keys data         explains the keys\n"
      "run = {{ name = {}, seed = 1 }}\n\n",
      classes.size(), sample == "image" ? "an" : "a", sample, files_of(classes), samples, names.path,
      "troupe train " + names.file, names.name, quoted(names.name));
}

/// Returns the classes with the numbers of their files, as far as they fit in a line.
std::string text_of(const ClassSizes& classes) {
  constexpr size_t most_named = 6;
  std::string text;
  for (size_t i = 0; i < std::min(classes.size(), most_named); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", classes[i].first, classes[i].second);
  return text + (classes.size() > most_named ? ", ..." : "");
}

/// Returns the lines of [data] up to [data.map]. `bytes` is the size of a decoded file.
std::string files(const ClassSizes& classes, const FirstFileNames& names, std::string_view sample,
                  std::string_view samples, int64_t bytes) {
  const int64_t count = files_of(classes);
  const int64_t batch = count < 500 ? 16 : count < 5000 ? 32 : 64;
  return fmt::format(
      "[data]\nformat = \"{}\"\n{:<36} # a folder for each class: {}\n"
      "{:<36} # held out, to see what the model does with new {}\nbatch = {}\n{:<36} # each {} is "
      "decoded once\n\n",
      samples, "train = [" + quoted(names.path) + "]", text_of(classes),
      "valid = { split = 0.2, stratify = true }", samples, batch,
      count * bytes <= most_bytes ? "cache = \"memory\"" : "cache = \"file\"", sample);
}

std::string model(size_t classes, int64_t side) {
  std::string text = "[model]\nlayers = [\n";
  for (int64_t filters = 16; side >= 8 && filters <= 128; side /= 2, filters *= 2)
    text += fmt::format(
        "  {{ type = \"conv2d\", filters = {}, kernel = 3, bias = false }},\n"
        "  {{ type = \"batch_norm\", activation = \"relu\", decay = 0.9 }},\n"
        "  {{ type = \"max_pool2d\" }},\n",
        filters);
  return text + fmt::format(
                    "  {{ type = \"flatten\" }},\n  {{ type = \"dropout\", rate = 0.3 }},\n"
                    "  {{ type = \"dense\", units = {}, name = \"logits\" }},   # one for each class\n]\n\n",
                    classes);
}

std::string train(const ClassSizes& classes) {
  return "[train]\nloss = \"softmax_cross_entropy\"\n" +
         advice_on_rare_classes({classes.begin(), classes.end()}) +
         "metrics = [\"accuracy\", \"f1\"]\noptimizer = { type = \"adam\", lr = 2e-3 }\nmax_epochs = 50\n"
         "early_stop = { monitor = \"valid/loss\", mode = \"min\", patience = 10, keep_best = true }\n";
}

// ---- Images

/// The sides that images get, unless they are all small ones of one size.
constexpr std::array<int64_t, 5> sides = {32, 48, 64, 96, 128};
constexpr int64_t most_side = 128;
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

std::string map_of_images(const ImageSurvey& survey, const Size& size) {
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
  std::string text = fmt::format("[data.map]\nimage = \"{} / 255.0\"{}\n\n", image, comment);
  const int64_t shift = std::max<int64_t>(1, std::min(size.height, size.width) / 12);
  return text + fmt::format(
                    "[data.augment]                       # of the images to train on, in each epoch anew\n"
                    "image = \"slice(pad(image, [[{0}, {0}], [{0}, {0}], [0, 0]]), "
                    "concat([random_uniform_int([2], 0, {1}), [0]], 0), {2})\"   # is shifted\n\n",
                    shift, 2 * shift + 1, size.shape());
}

// ---- Sounds

/// The features of a sound: coefficients of windows.
struct Features {
  int64_t frames = 0, window = 0, stride = 0;  ///< in samples of a channel
  int64_t highest = 0;                         ///< Hz

  int64_t windows() const { return 1 + (frames - window) / stride; }
};

constexpr int64_t coefficients = 40;

/// Windows of about 32 ms, half of which the next one has, too, unless there would be too many of them.
Features features_of(const SoundSurvey& survey) {
  constexpr int64_t most_seconds = 10, most_windows = 128;
  Features features;
  features.window =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(survey.rate / 45, 64))));
  features.frames =
      std::clamp(survey.frames, 8 * features.window, most_seconds * survey.rate + 8 * features.window);
  features.stride = std::max(features.window / 2, features.frames / most_windows);
  features.highest = std::min<int64_t>(survey.rate / 2, 8000);
  return features;
}

std::string map_of_sounds(const SoundSurvey& survey, const Features& features) {
  const int64_t shift = std::max<int64_t>(1, features.windows() / 12);
  const std::string shape = fmt::format("[{}, {}, 1]", features.windows(), coefficients);
  const auto in_seconds = [&](int64_t frames) {
    return static_cast<double>(frames) / static_cast<double>(survey.rate);
  };
  return fmt::format(
      "[data.map]                           # {:.1f} s in windows of {:.0f} ms, each with {} coefficients "
      "of its frequencies\n"
      "image = \"reshape(mfcc(audio_spectrogram(decode_wav(image, desired_channels=1, desired_samples={}), "
      "window_size={}, stride={}, magnitude_squared=true), {}, upper_frequency_limit={}, "
      "dct_coefficient_count={}), {})\"\n\n"
      "[data.augment]                       # of the sounds to train on, in each epoch anew\n"
      "image = \"slice(pad(image, [[{}, {}], [0, 0], [0, 0]]), concat([random_uniform_int([1], 0, {}), "
      "[0, 0]], 0), {})\"   # is shifted\n\n",
      in_seconds(features.frames), 1000 * in_seconds(features.window), coefficients, features.frames,
      features.window, features.stride, survey.rate, features.highest, coefficients, shape, shift, shift,
      2 * shift + 1, shape);
}

}  // namespace

std::string first_images_file(const ImageSurvey& survey, const FirstFileNames& names) {
  const Size size = size_of(survey);
  return head(survey.classes, names, "image", "images") +
         files(survey.classes, names, "image", "images", size.bytes()) + map_of_images(survey, size) +
         model(survey.classes.size(), std::min(size.height, size.width)) + train(survey.classes);
}

std::string first_sounds_file(const SoundSurvey& survey, const FirstFileNames& names) {
  const Features features = features_of(survey);
  const int64_t bytes = features.windows() * coefficients * static_cast<int64_t>(sizeof(float));
  return head(survey.classes, names, "sound", "sounds") +
         files(survey.classes, names, "sound", "sounds", bytes) + map_of_sounds(survey, features) +
         model(survey.classes.size(), std::min(features.windows(), coefficients)) + train(survey.classes);
}

}  // namespace troupe::runs

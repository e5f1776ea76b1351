#include "apps/train/checkpoints.h"

#include <array>
#include <charconv>
#include <sstream>

namespace troupe::train {
namespace {

constexpr std::string_view best_prefix = "best/";

/// The shortest text that reads back as the very same number.
std::string exact(double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace

Checkpoint to_checkpoint(const Progress& progress, const nn::NamedTensors& variables) {
  Checkpoint checkpoint;
  checkpoint.round = progress.step;
  checkpoint.note = "step " + std::to_string(progress.step) + " best_epoch " +
                    std::to_string(progress.best.epoch) + " best " +
                    (progress.best.score ? exact(*progress.best.score) : "none");
  for (const auto& [name, value] : variables) checkpoint.tensors.push_back({name, value, progress.step});
  for (const auto& [name, value] : progress.best.variables)
    checkpoint.tensors.push_back({std::string(best_prefix) + name, value, progress.step});
  return checkpoint;
}

Result<Progress> from_checkpoint(const Checkpoint& checkpoint, nn::NamedTensors& variables) {
  std::istringstream note(checkpoint.note);
  std::string word_step, word_epoch, word_best, score;
  Progress progress;
  note >> word_step >> progress.step >> word_epoch >> progress.best.epoch >> word_best >> score;
  if (!note || word_step != "step" || word_epoch != "best_epoch" || word_best != "best")
    return data_loss("the checkpoint's note is not that of a training run: " + checkpoint.note);
  if (score != "none") {
    double value = 0;
    if (std::from_chars(score.data(), score.data() + score.size(), value).ec != std::errc{})
      return data_loss("the checkpoint's best score is no number: " + score);
    progress.best.score = value;
  }
  for (const auto& saved : checkpoint.tensors) {
    if (saved.name.starts_with(best_prefix))
      progress.best.variables.emplace_back(saved.name.substr(best_prefix.size()), saved.value);
    else
      variables.emplace_back(saved.name, saved.value);
  }
  return progress;
}

}  // namespace troupe::train

#include "apps/train/progress.h"

#include <array>
#include <charconv>
#include <sstream>

namespace troupe::train {
namespace {

/// Returns the shortest text that is read as exactly the same number.
std::string exact(double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace

std::string to_note(const Progress& progress) {
  return "step " + std::to_string(progress.step) + " best_epoch " + std::to_string(progress.best_epoch) +
         " best " + (progress.best_score ? exact(*progress.best_score) : "none");
}

Result<Progress> from_note(const std::string& note) {
  std::istringstream text(note);
  std::string word_step, word_epoch, word_best, score;
  Progress progress;
  text >> word_step >> progress.step >> word_epoch >> progress.best_epoch >> word_best >> score;
  if (!text || word_step != "step" || word_epoch != "best_epoch" || word_best != "best")
    return data_loss("the note of the checkpoint is not that of a training run: " + note);
  if (score == "none") return progress;
  double value = 0;
  const auto [end, error] = std::from_chars(score.data(), score.data() + score.size(), value);
  if (error != std::errc{} || end != score.data() + score.size())
    return data_loss("the best score in the note of the checkpoint is not a number: " + score);
  progress.best_score = value;
  return progress;
}

}  // namespace troupe::train

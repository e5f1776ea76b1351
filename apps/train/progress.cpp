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

std::string text(const Best& best) {
  return std::to_string(best.epoch) + " best " + (best.score ? exact(*best.score) : "none");
}

/// Reads what text() returned. Returns nothing if the stream holds something else.
std::optional<Best> read_best(std::istringstream& from) {
  Best best;
  std::string word, score;
  from >> best.epoch >> word >> score;
  if (!from || word != "best") return {};
  if (score == "none") return best;
  double value = 0;
  const auto [end, error] = std::from_chars(score.data(), score.data() + score.size(), value);
  if (error != std::errc{} || end != score.data() + score.size()) return {};
  best.score = value;
  return best;
}

}  // namespace

std::string to_note(const Progress& progress) {
  return "step " + std::to_string(progress.step) + " best_epoch " + text(progress.early_stop) +
         " plateau_epoch " + text(progress.plateau);
}

Result<Progress> from_note(const std::string& note) {
  const auto refuse = [&] {
    return data_loss("the note of the checkpoint is not that of a training run: " + note);
  };
  std::istringstream text(note);
  std::string step, early_stop, plateau;
  Progress progress;
  text >> step >> progress.step >> early_stop;
  const auto best = read_best(text);
  if (step != "step" || early_stop != "best_epoch" || !best) return refuse();
  progress.early_stop = *best;
  if (!(text >> plateau)) return progress;  // earlier versions wrote no more
  const auto lowest = read_best(text);
  if (plateau != "plateau_epoch" || !lowest) return refuse();
  progress.plateau = *lowest;
  return progress;
}

}  // namespace troupe::train

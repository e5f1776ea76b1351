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

/// Reads what exact() returned. Returns nothing if the text is something else.
std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// Reads what text() returned. Returns nothing if the stream holds something else.
std::optional<Best> read_best(std::istringstream& from) {
  Best best;
  std::string word, score;
  from >> best.epoch >> word >> score;
  if (!from || word != "best") return {};
  if (score == "none") return best;
  best.score = parse_number(score);
  return best.score ? std::optional(best) : std::nullopt;
}

}  // namespace

std::string change_of_samples(int64_t before, int64_t now) {
  if (before == 0 || before == now) return {};
  return "the training data has " + std::to_string(now) + " samples, and had " + std::to_string(before) +
         " before: epochs and batches are not those of the run so far, and scores cannot be compared with "
         "its";
}

std::string to_note(const Progress& progress) {
  return "step " + std::to_string(progress.step) + " best_epoch " + text(progress.early_stop) +
         " plateau_epoch " + text(progress.plateau) + " epoch_loss " + exact(progress.epoch_loss.sum) + ' ' +
         std::to_string(progress.epoch_loss.rounds) + " samples " + std::to_string(progress.samples);
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
  if (!(text >> plateau)) return progress;  // the oldest notes end before the plateau
  const auto lowest = read_best(text);
  if (plateau != "plateau_epoch" || !lowest) return refuse();
  progress.plateau = *lowest;
  std::string losses, sum;
  if (!(text >> losses)) return progress;  // later ones before the losses of the epoch
  text >> sum >> progress.epoch_loss.rounds;
  const auto number = parse_number(sum);
  if (losses != "epoch_loss" || !text || !number) return refuse();
  progress.epoch_loss.sum = *number;
  std::string samples;
  if (!(text >> samples)) return progress;  // and those after them before the samples
  text >> progress.samples;
  if (samples != "samples" || !text) return refuse();
  return progress;
}

}  // namespace troupe::train

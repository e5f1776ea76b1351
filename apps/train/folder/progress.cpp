#include "apps/train/folder/progress.h"

#include <array>
#include <charconv>
#include <sstream>
#include <utility>

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

std::string Progress::go_on_with(const data::Fingerprint& data_now, uint64_t steps_per_epoch_now) {
  const data::Fingerprint data_before = std::exchange(data, data_now);
  const uint64_t steps_before = std::exchange(steps_per_epoch, steps_per_epoch_now);
  const bool as_many = data_before.samples == data_now.samples;
  const bool both_known = data_before.checksum != 0 && data_now.checksum != 0;
  if (data_before.samples != 0 && (!as_many || (both_known && data_before.checksum != data_now.checksum))) {
    early_stop.score.reset();
    plateau.score.reset();
    const std::string what =
        as_many ? "the training data has other samples than before, or in another order: samples may be held "
                  "out for validation that the run was trained on"
                : "the training data has " + std::to_string(data_now.samples) + " samples, and had " +
                      std::to_string(data_before.samples) +
                      " before: epochs and batches are not those of the run so far";
    return what + ", and scores are not compared with its";
  }
  if (steps_before == 0 || steps_before == steps_per_epoch_now) return {};
  return "an epoch has " + std::to_string(steps_per_epoch_now) + " steps, and had " +
         std::to_string(steps_before) + " before: step " + std::to_string(step) + " is in epoch " +
         std::to_string(step / steps_per_epoch_now + 1) + ", and was in epoch " +
         std::to_string(step / steps_before + 1);
}

std::string to_note(const Progress& progress) {
  return "step " + std::to_string(progress.step) + " best_epoch " + text(progress.early_stop) +
         " plateau_epoch " + text(progress.plateau) + " epoch_loss " + exact(progress.epoch_loss.sum) + ' ' +
         std::to_string(progress.epoch_loss.rounds) + " samples " + std::to_string(progress.data.samples) +
         " steps_per_epoch " + std::to_string(progress.steps_per_epoch) + " checksum " +
         std::to_string(progress.data.checksum);
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
  text >> progress.data.samples;
  if (samples != "samples" || !text) return refuse();
  std::string steps;
  if (!(text >> steps)) return progress;  // and those after them before the steps of an epoch
  text >> progress.steps_per_epoch;
  if (steps != "steps_per_epoch" || !text) return refuse();
  std::string checksum;
  if (!(text >> checksum)) return progress;  // and those before these end here
  text >> progress.data.checksum;
  if (checksum != "checksum" || !text) return refuse();
  return progress;
}

}  // namespace troupe::train

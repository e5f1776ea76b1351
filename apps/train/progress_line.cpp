#include "apps/train/progress_line.h"

#include <fmt/format.h>
#include <cmath>

#include "apps/text/score_text.h"

namespace troupe::train {
namespace {

std::string clock_text(double seconds) {
  const int64_t all = std::llround(seconds);
  const int64_t hours = all / 3600, minutes = all / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60)
                   : fmt::format("{}:{:02}", minutes, all % 60);
}

}  // namespace

std::string progress_text(const observe::Pace& pace) {
  std::string text = fmt::format("epoch {}", pace.epoch);
  if (pace.max_epochs) text += fmt::format(" of {}", *pace.max_epochs);
  text += fmt::format("  step {}", pace.step);
  if (pace.last_step) text += fmt::format("/{}  {} %", *pace.last_step, pace.step * 100 / *pace.last_step);
  text += "  loss " + score_text(pace.epoch_loss);
  if (pace.samples_per_second > 0) text += fmt::format("  {:.0f} examples/s", pace.samples_per_second);
  if (const auto left = pace.left()) text += "  ETA " + clock_text(*left);
  return text;
}

std::optional<std::string> ProgressLine::at(Time now) {
  if (now - last_shown_ < interval_) return {};
  const observe::Pace pace = monitor_.pace();
  if (pace.step <= pace.first) return {};
  last_shown_ = now;
  return progress_text(pace);
}

}  // namespace troupe::train

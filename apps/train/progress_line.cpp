#include "apps/train/progress_line.h"

#include <fmt/format.h>
#include <cmath>

namespace troupe::train {
namespace {

constexpr std::chrono::milliseconds pause{200};

std::string clock_text(double seconds) {
  const int64_t all = std::llround(seconds);
  const int64_t hours = all / 3600, minutes = all / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60)
                   : fmt::format("{}:{:02}", minutes, all % 60);
}

}  // namespace

std::optional<std::string> ProgressLine::at(uint64_t step, double loss, Time now) {
  if (now - last_shown_ < pause || step <= first_) return {};
  last_shown_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double rate = static_cast<double>(step - first_) / seconds;
  return fmt::format("step {}/{}  {} %  loss {:.4f}  {:.0f} examples/s  ETA {}", step, last_,
                     step * 100 / last_, loss, rate * static_cast<double>(batch_),
                     clock_text(static_cast<double>(last_ - step) / rate));
}

}  // namespace troupe::train

#include "apps/train/progress_line.h"

#include <boost/test/unit_test.hpp>

#include <cmath>

#include "apps/text/score_text.h"

namespace troupe::train::progress_line_test {
namespace {

using namespace std::chrono_literals;
using observe::Pace;

BOOST_AUTO_TEST_CASE(a_progress_line_tells_rate_and_time_left) {
  Pace pace{100, 350, 1100, 4, 12, 0.05, 25, 1600};
  BOOST_TEST(progress_text(pace) ==
             "epoch 4 of 12  step 350/1100  31 %  loss 0.0500  1600 examples/s  ETA 0:30");
  pace.steps_per_second = 0.01;
  pace.samples_per_second = 0.64;
  BOOST_TEST(progress_text(pace) ==
             "epoch 4 of 12  step 350/1100  31 %  loss 0.0500  1 examples/s  ETA 20:50:00");
}

BOOST_AUTO_TEST_CASE(a_progress_line_leaves_out_what_is_not_known) {
  const Pace pace{0, 350, {}, 4, {}, 0.05, 0, 0};
  BOOST_TEST(progress_text(pace) == "epoch 4  step 350  loss 0.0500");
}

BOOST_AUTO_TEST_CASE(a_loss_has_digits_that_say_something_whatever_its_size) {
  for (const auto& [loss, text] :
       {std::pair(0.0, "0.0000"), std::pair(0.96378, "0.9638"), std::pair(-2.5, "-2.5000"),
        std::pair(1.23456e-8, "1.2346e-08"), std::pair(1.9517996e19, "1.9518e+19"),
        std::pair(54321.5, "54322"), std::pair(HUGE_VAL, "inf"), std::pair(-std::nan(""), "nan")}) {
    const Pace pace{0, 350, {}, 4, {}, loss, 0, 0};
    BOOST_TEST(progress_text(pace) == std::string("epoch 4  step 350  loss ") + text);
  }
  BOOST_TEST(score_texts(std::vector<std::pair<std::string, double>>{
                 {"valid/loss", 0.5}, {"valid/f1", 1e-5}}) == "  valid/loss 0.5000  valid/f1 1e-05");
  BOOST_TEST(count_text(1, "epoch") == "1 epoch");
  BOOST_TEST(count_text(2, "epoch") == "2 epochs");
  BOOST_TEST(count_text(2, "batch") == "2 batches");
}

BOOST_AUTO_TEST_CASE(a_progress_line_comes_once_per_interval) {
  observe::RunMonitor monitor;
  monitor.describe({.name = "run", .batch = 64, .steps_per_epoch = 100, .last_step = {}, .max_epochs = {}});
  const ProgressLine::Time begin;
  ProgressLine line(monitor, 10s, begin);
  BOOST_TEST(!line.at(begin + 11s));  // no step is done yet
  monitor.rounds(101, 3, 2, 0);
  BOOST_TEST(!line.at(begin + 9s));
  BOOST_TEST(line.at(begin + 11s).value() == "epoch 2  step 101  loss 2.0000");
  BOOST_TEST(!line.at(begin + 20s));
  BOOST_TEST(line.at(begin + 21s).has_value());
}

}  // namespace
}  // namespace troupe::train::progress_line_test

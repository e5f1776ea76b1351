#include "apps/train/progress_line.h"

#include <boost/test/unit_test.hpp>

namespace troupe::train {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_progress_line_tells_rate_and_time_left) {
  const ProgressLine::Time begin;
  ProgressLine line(100, 1100, 64, begin);
  BOOST_TEST(!line.at(100, 1, begin + 1s));    // no step is done yet
  BOOST_TEST(!line.at(101, 1, begin + 10ms));  // too soon
  BOOST_TEST(line.at(350, 0.05, begin + 10s).value() ==
             "step 350/1100  31 %  loss 0.0500  1600 examples/s  ETA 0:30");
  BOOST_TEST(!line.at(351, 0.05, begin + 10s + 100ms));
  BOOST_TEST(line.at(352, 2, begin + 25200s).value() ==
             "step 352/1100  32 %  loss 2.0000  1 examples/s  ETA 20:46:40");
}

}  // namespace
}  // namespace troupe::train

#include "devices/recent_plans.h"

#include <boost/test/unit_test.hpp>

namespace troupe::recent_plans_test {
namespace {

BOOST_AUTO_TEST_SUITE(recent_plans)

BOOST_AUTO_TEST_CASE(the_plan_that_was_not_asked_for_longest_is_dropped) {
  RecentPlans plans(2);
  const auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  plans[{1, 1}] = first;
  plans[{1, 2}] = second;
  BOOST_TEST((plans[{1, 1}] == first));
  BOOST_TEST((plans[{2}] == nullptr));  // takes the place of the second one
  BOOST_TEST((plans[{1, 1}] == first));
  BOOST_TEST(second.use_count() == 1);
  BOOST_TEST((plans[{1, 2}] == nullptr));
  BOOST_TEST((plans[{1, 1}] == first));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::recent_plans_test

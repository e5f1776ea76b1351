// Timestamp in steps: the time goes on.
#include <boost/test/unit_test.hpp>

#include <chrono>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"

namespace troupe::timestamp_test {

BOOST_AUTO_TEST_CASE(timestamps_are_not_kept_from_step_to_step) {
  Runtime runtime{{.threads = 1}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output first = g.add_one("Timestamp", {});
  const Output second = g.with_control({first}).add_one("Timestamp", {});
  Session session = runtime.session(graph);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  double before = now.count() - 1e-3;
  for (int step = 0; step < 3; ++step) {
    const auto times = session.run({first, second});
    BOOST_TEST(times[0].item<double>() > before);
    BOOST_TEST(times[1].item<double>() >= times[0].item<double>());
    before = times[1].item<double>();
  }
  BOOST_TEST(before < now.count() + 60);
}

}  // namespace troupe::timestamp_test

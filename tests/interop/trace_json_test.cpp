// Timelines: that the clocks of tasks are aligned by the fastest round trip, and that slices and arrows lie where they belong.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "apps/trace/trace_json.h"

namespace troupe::trace::trace_json_test {
namespace {

using std::chrono::microseconds;
using Json = nlohmann::json;

const std::string near = "/job:a/replica:0/task:0", far = "/job:b/replica:0/task:0";

NodeProfile node(const std::string& op, std::vector<NodeSpan> spans, const std::string& edge = {},
                 const std::string& peer = {}) {
  return {
      .name = "n", .op = op, .runs = 1, .time = {}, .edge = edge, .peer = peer, .spans = std::move(spans)};
}

/// A step from 1,000 us on: task a sends a tensor to task b, whose clock is ahead by 5 s. Messages to and from b take `there`
/// and `back`.
TracedStep step(microseconds there, microseconds back) {
  const microseconds start(1000), ahead(5'000'000);
  const auto at = [&](int64_t us) { return start + microseconds(us); };
  DeviceProfile a{.device = near + "/device:CPU:0",
                  .nodes = {},
                  .elapsed = microseconds(50),
                  .begin = at(10),
                  .asked = start,
                  .answered = at(70)};
  a.nodes = {node("MatMul", {{at(12), at(20), 64, false}}),
             node("_Send", {{at(20), at(21), 40, false}}, "e b", far + "/device:CPU:0")};
  DeviceProfile b{.device = far + "/device:CPU:0",
                  .nodes = {},
                  .elapsed = microseconds(60),
                  .begin = start + there + ahead,
                  .asked = start,
                  .answered = start + there + microseconds(60) + back};
  b.nodes = {
      node("_Recv",
           {{start + there + ahead, start + there + ahead + microseconds(1), 0, false},
            {start + there + ahead + microseconds(1), start + there + ahead + microseconds(55), 40, true}},
           "e b", near + "/device:CPU:0")};
  return {start, at(200), {a, b}};
}

BOOST_AUTO_TEST_SUITE(timelines)

BOOST_AUTO_TEST_CASE(the_fastest_round_trip_aligns_clocks) {
  const auto clocks =
      clock_offsets({step(microseconds(500), microseconds(100)), step(microseconds(20), microseconds(30)),
                     step(microseconds(70), microseconds(10))});
  BOOST_TEST(clocks.at(near).offset.count() == 0);
  BOOST_TEST(clocks.at(far).round_trip.count() == 50'000);
  // Half the difference of both ways is what cannot be known.
  BOOST_TEST(clocks.at(far).offset.count() == 5'000'000'000 - 5'000);
}

BOOST_AUTO_TEST_CASE(clocks_that_may_be_the_same_are_the_same) {
  TracedStep one = step(microseconds(20), microseconds(30));
  one.devices[1].begin = one.devices[1].asked + microseconds(40);
  one.devices[1].answered = one.devices[1].begin + one.devices[1].elapsed + microseconds(1);
  BOOST_TEST(clock_offsets({one}).at(far).offset.count() == 0);
}

BOOST_AUTO_TEST_CASE(an_arrow_leads_from_a_send_to_its_recv) {
  const Json events = Json::parse(trace_json({step(microseconds(20), microseconds(20))})).at("traceEvents");
  std::map<std::string, Json> slices;
  Json from, to;
  for (const Json& event : events) {
    if (event.at("ph") == "X")
      slices[event.at("name").get<std::string>() +
             (event.contains("args") && event.at("args").at("bytes") == 0 ? " run" : "")] = event;
    if (event.at("ph") == "s") from = event;
    if (event.at("ph") == "f") to = event;
  }
  BOOST_TEST(slices.at("MatMul").at("ts") == 12.0);
  BOOST_TEST(slices.at("MatMul").at("dur") == 8.0);
  BOOST_TEST(slices.at("_Send").at("args").at("bytes") == 40);
  BOOST_TEST(slices.at("_Recv").at("ts") == 21.0);
  BOOST_TEST(from.at("ts") == slices.at("_Send").at("ts"));
  BOOST_TEST(from.at("tid") == slices.at("_Send").at("tid"));
  BOOST_TEST(to.at("ts") == 75.0);
  BOOST_TEST(to.at("tid") == slices.at("_Recv").at("tid"));
  BOOST_TEST(from.at("id") == to.at("id"));
  BOOST_TEST(from.at("pid") != to.at("pid"));
}

BOOST_AUTO_TEST_CASE(slices_that_overlap_get_tracks_of_their_own) {
  TracedStep one = step(microseconds(20), microseconds(20));
  one.devices[0].nodes.push_back(node("Conv2D", {{microseconds(1015), microseconds(1030), 8, false}}));
  std::map<std::string, int> tracks;
  const Json events = Json::parse(trace_json({one})).at("traceEvents");
  for (const Json& event : events)
    if (event.at("ph") == "X") tracks[event.at("name").get<std::string>()] = event.at("tid").get<int>();
  BOOST_TEST(tracks.at("MatMul") != tracks.at("Conv2D"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::trace::trace_json_test

// The registrar: which task of a cluster it gives to a node that joins, and that it gives no task twice.
#include "actors/net/registrar.h"

#include <boost/test/unit_test.hpp>

#include <map>

#include "messages/schemas/registrar.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::registrar_test {
namespace {

constexpr int64_t second = 1'000'000'000;
const std::string worker0 = "/job:worker/replica:0/task:0", worker1 = "/job:worker/replica:0/task:1";

struct Bench {
  Bench() {
    ClusterSpec cluster;
    cluster.name = "lab";
    cluster.jobs["ps"][0] = "a:1";
    cluster.jobs["worker"] = {{0, "b:1"}, {1, "b:2"}};
    spawn_registrar(node.actors, address, cluster, [this](const std::string& task) { return known[task]; });
    simulation.run_ready();
  }

  /// Asks for a task. Returns the task given, or the text of the failure.
  std::string ask(const std::string& job, int task = -1, bool take = true) {
    Draft<wire::DescribeCluster> draft;
    draft->setJob(as_text(job));
    draft->setTask(task);
    draft->setTake(take);
    answer = node.actors.engine.call(node.find(address), draft.finish());
    return answer ? std::to_string(Message<wire::ClusterDescribed>(*answer)->getTask())
                  : answer.status().text();
  }

  const Address address = registrar_address({"/job:ps/replica:0/task:0", 1, {}, {}});
  std::map<std::string, Presence> known = {{"/job:ps/replica:0/task:0", {true, 0}}};
  test::Simulation simulation;
  SimulatedDisk disk{1};
  test::SimulatedNode node{simulation, disk};
  Result<AnyMessage> answer = AnyMessage();
};

BOOST_FIXTURE_TEST_SUITE(registrar, Bench)

BOOST_AUTO_TEST_CASE(the_whole_cluster_is_told) {
  BOOST_TEST(ask("worker", 1) == "1");
  std::map<std::string, std::string> endpoints;
  for (const auto member : Message<wire::ClusterDescribed>(*answer)->getTasks())
    endpoints[std::string(view(member.getJob())) + std::to_string(member.getTask())] =
        view(member.getEndpoint());
  BOOST_TEST((endpoints ==
              std::map<std::string, std::string>{{"ps0", "a:1"}, {"worker0", "b:1"}, {"worker1", "b:2"}}));
}

BOOST_AUTO_TEST_CASE(a_place_is_given_once) {
  BOOST_TEST(ask("worker", -1, false) == "0");
  BOOST_TEST(ask("worker") == "0");
  BOOST_TEST(ask("worker", 0) == worker0 + " was reserved for another node a moment ago");
  BOOST_TEST(ask("worker") == "1");
  known[worker1] = {true, 1};
  BOOST_TEST(ask("worker") == "no task of job 'worker' is free:\n  " + worker0 +
                                  " was reserved for another node a moment ago\n  " + worker1 +
                                  " is there already");
}

BOOST_AUTO_TEST_CASE(a_place_that_was_not_taken_is_free_after_a_while) {
  BOOST_TEST(ask("worker") == "0");
  simulation.run_until([] { return false; }, simulation.now() + 11 * second);
  BOOST_TEST(ask("worker") == "0");
}

BOOST_AUTO_TEST_CASE(a_place_that_was_taken_and_left_is_free_at_once) {
  BOOST_TEST(ask("worker") == "0");
  known[worker0] = {false, 1};
  BOOST_TEST(ask("worker") == "0");
}

BOOST_AUTO_TEST_CASE(a_cluster_does_not_grow) {
  BOOST_TEST(ask("cook") ==
             "cluster lab has no job 'cook': growing a cluster at run time is not available yet");
  BOOST_TEST(ask("worker", 2) ==
             "cluster lab has no task 2 of job 'worker': growing a cluster at run time is not available yet");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::registrar_test

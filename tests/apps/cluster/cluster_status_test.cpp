// troupe status --cluster: what the nodes of a running cluster are and do, and why some cannot be reached.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/reserved_port.h"

namespace troupe::cluster_status_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;

constexpr const char* tls =
    ", tls = { cert = 'certs/{job}-{task}.pem', key = 'certs/{job}-{task}.key', ca = 'certs/ca.pem' }";

/// A cluster of a parameter server and a worker.
struct Fixture : test::DigitsRuns {
  std::string cluster_file(const std::string& more = {}) const {
    return folder.write("cluster.toml", "cluster = { name = 'lab'" + more + " }\n[jobs]\nps = '" +
                                            ps.endpoint() + "'\nworker = '" + worker.endpoint() + "'\n");
  }
  static Arguments node(const std::string& cluster, const std::string& job) {
    return {"node", "--cluster", cluster, "--job", job, "--task", "0", "--root", "/"};
  }
  /// Asks until the nodes are as they should be, because links and trainings begin when they can.
  template <class Condition>
  static Json await(const std::string& cluster, Condition is_so) {
    Json json;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    do {
      Program status(test::troupe_program(), {"status", "--cluster", cluster, "--json"});
      status.end();
      json = Json::parse(status.output(), nullptr, false);
    } while (!(json.is_object() && is_so(json)) && std::chrono::steady_clock::now() < end);
    BOOST_TEST_REQUIRE((json.is_object() && is_so(json)), json.dump());
    return json;
  }

  const test::ReservedPort ps, worker;
};

BOOST_FIXTURE_TEST_SUITE(cluster_status, Fixture)

BOOST_AUTO_TEST_CASE(nodes_say_what_they_do_while_another_client_trains) {
  const std::string cluster = cluster_file(tls);
  BOOST_TEST(
      Program(test::troupe_program(), {"certs", folder.path() + "/certs", "--cluster", cluster}).end() == 0);
  Program server(test::troupe_program(), node(cluster, "ps")),
      member(test::troupe_program(), node(cluster, "worker"));
  const Json idle = await(cluster, [](const Json& json) {
    return json.at("nodes").at(0).value("unlinked", Json::array({1})).empty() &&
           json.at("nodes").at(1).value("unlinked", Json::array({1})).empty();
  });
  BOOST_TEST(idle.at("cluster") == "lab");
  BOOST_TEST(idle.at("nodes").at(1).at("task") == "/job:worker/replica:0/task:0");
  BOOST_TEST(idle.at("nodes").at(1).at("activity") == "idle");
  BOOST_TEST(idle.at("nodes").at(1).at("started") > 1.6e9);

  Program training(test::troupe_program(), endless("train", "watched", {"--cluster", cluster, "-q"}));
  const Json busy =
      await(cluster, [](const Json& json) { return json.at("nodes").at(1).value("steps", 0) > 0; });
  BOOST_TEST(busy.at("nodes").at(1).at("activity").get<std::string>().starts_with("trains"));
  BOOST_TEST(busy.at("nodes").at(0).at("activity") != "trains");
  BOOST_TEST(busy.at("nodes").at(0).at("received_bytes") > 0);

  const auto control = [&](const std::string& action) {
    Program ctl(test::troupe_program(), {"ctl", "--cluster", cluster, action, "--json"});
    BOOST_TEST(ctl.end() == 0, ctl.output());
    return Json::parse(ctl.output(), nullptr, false);
  };
  control("pause");
  (void)await(cluster,
              [](const Json& json) { return json.at("nodes").at(1).value("activity", "") != "trains"; });
  BOOST_TEST(std::filesystem::is_directory(control("checkpoint").at("checkpoint").get<std::string>()));
  const auto steps = [](const Json& json) { return json.at("nodes").at(1).at("steps").get<int64_t>(); };
  const int64_t paused = steps(await(cluster, [](const Json&) { return true; }));
  BOOST_TEST(steps(await(cluster, [](const Json&) { return true; })) == paused);
  control("resume");
  (void)await(cluster, [&](const Json& json) { return steps(json) > paused; });
  control("stop");
  BOOST_TEST(training.end() == 128 + SIGTERM, training.output());

  Program late(test::troupe_program(), {"ctl", "--cluster", cluster, "pause"});
  BOOST_TEST(late.end() == 1);
  BOOST_TEST(late.output().find("no training runs on /job:worker/replica:0/task:0") != std::string::npos,
             late.output());
}

BOOST_AUTO_TEST_CASE(a_node_that_cannot_be_reached_is_named_with_the_reason) {
  const std::string cluster = cluster_file();
  Program server(test::troupe_program(), node(cluster, "ps"));
  BOOST_TEST_REQUIRE(server.wait_for(" at " + ps.endpoint()), server.output());
  Program status(test::troupe_program(), {"status", "--cluster", cluster, "--timeout", "2"});
  BOOST_TEST(status.end() == 1);
  for (const std::string part :
       {"/job:ps/replica:0/task:0         idle, up for ",
        "not linked to /job:worker/replica:0/task:0: no link to",
        "/job:worker/replica:0/task:0     cannot be reached: no link to /job:worker/replica:0/task:0: "})
    BOOST_TEST(status.output().find(part) != std::string::npos, status.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::cluster_status_test

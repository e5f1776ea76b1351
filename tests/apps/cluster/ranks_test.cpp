// troupe train --ranks: mpirun starts the same command once per rank. Rank 0 trains, the others are its nodes. Most tests set the
// variables of a launcher themselves; one uses mpirun, if there is one.
#include <boost/test/unit_test.hpp>

#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/reserved_port.h"

namespace troupe::ranks_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const Arguments brief = {"--set", "train.max_epochs=3", "--set", "train.early_stop.keep_best=false"};

struct Fixture : test::DigitsRuns {
  /// Starts a process as a launcher does that tells it no more than its rank.
  static std::unique_ptr<Program> rank(int number, const Arguments& arguments) {
    return std::make_unique<Program>(
        "/usr/bin/env",
        Arguments{"PMI_RANK=" + std::to_string(number), "PMI_SIZE=4", test::troupe_program()} + arguments);
  }
  /// Writes a cluster file with a parameter server and two workers.
  std::string cluster_file(const std::string& more = {}) const {
    return folder.write("cluster.toml", "cluster = { name = 'lab'" + more + " }\n[jobs]\nps = '" +
                                            one.endpoint() + "'\nworker = ['" + two.endpoint() + "', '" +
                                            three.endpoint() + "']\n");
  }
  test::WholeCheckpoint alone() {
    BOOST_TEST(Program(test::troupe_program(), run("train", "alone", brief)).end() == 0);
    return weights("alone");
  }

  const test::ReservedPort one, two, three;
};

BOOST_FIXTURE_TEST_SUITE(ranks, Fixture)

BOOST_AUTO_TEST_CASE(the_nodes_end_with_the_training_of_rank_0) {
  const std::string port = one.endpoint().substr(one.endpoint().find(':') + 1);
  const Arguments arguments =
      run("train", "ranks", brief + Arguments{"--ranks", "--hosts", "127.0.0.[2-5]", "--port", port});
  std::vector<std::unique_ptr<Program>> nodes;
  for (const int number : {3, 1, 2}) nodes.push_back(rank(number, arguments));
  const auto trainer = rank(0, arguments);
  BOOST_TEST(trainer->end() == 0, trainer->output());
  for (const auto& node : nodes) BOOST_TEST(node->end() == 0, node->output());
  check_equal(weights("ranks"), alone());
}

BOOST_AUTO_TEST_CASE(a_signal_to_every_rank_saves_a_checkpoint) {
  const Arguments arguments = endless("train", "stopped", {"--ranks", "--cluster", cluster_file()});
  std::vector<std::unique_ptr<Program>> nodes;
  for (const int number : {1, 2, 3}) nodes.push_back(rank(number, arguments));
  const auto trainer = rank(0, arguments);
  BOOST_TEST_REQUIRE(trainer->wait_for("epoch 2"), trainer->output());
  for (const auto& node : nodes) kill(node->process(), SIGTERM);
  BOOST_TEST(trainer->end(SIGTERM) == 128 + SIGTERM, trainer->output());
  for (const auto& node : nodes) BOOST_TEST(node->end() == 0, node->output());
  BOOST_TEST(weights("stopped").round > 0u);
}

BOOST_AUTO_TEST_CASE(the_nodes_fail_when_rank_0_is_killed) {
  const Arguments arguments = endless(
      "train", "killed", {"--ranks", "--cluster", cluster_file(), "--set", "train.fault.heartbeat='200ms'"});
  std::vector<std::unique_ptr<Program>> nodes;
  for (const int number : {1, 2, 3}) nodes.push_back(rank(number, arguments));
  const auto trainer = rank(0, arguments);
  BOOST_TEST_REQUIRE(trainer->wait_for("epoch 2"), trainer->output());
  trainer->end(SIGKILL);
  for (const auto& node : nodes) {
    BOOST_TEST(node->end() != 0, node->output());
    BOOST_TEST(node->output().find("the owner of this node, was killed or can no longer be reached") !=
                   std::string::npos,
               node->output());
  }
}

BOOST_AUTO_TEST_CASE(mpirun_starts_a_run_over_tls) {
  if (std::system("command -v mpirun >/dev/null") != 0) {
    BOOST_TEST_MESSAGE("skipped: there is no mpirun (package openmpi-bin)");
    return;
  }
  const std::string file = cluster_file(
      ", tls = { cert = 'certs/{job}-{task}.pem', key = 'certs/{job}-{task}.key', ca = 'certs/ca.pem' }");
  BOOST_TEST(Program(test::troupe_program(), {"certs", folder.path() + "/certs", "--cluster", file}).end() ==
             0);
  Program program(
      "/usr/bin/env",
      Arguments{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                "OMPI_MCA_rmaps_base_oversubscribe=1", "mpirun", "-n", "4", test::troupe_program()} +
          run("train", "mpirun", brief + Arguments{"--ranks", "--cluster", file}));
  BOOST_TEST(program.end() == 0, program.output());
  check_equal(weights("mpirun"), alone());
}

BOOST_AUTO_TEST_CASE(it_needs_a_launcher) {
  Program program(test::troupe_program(), run("train", "none", {"--ranks"}));
  BOOST_TEST(program.end() != 0);
  BOOST_TEST(program.output().find("none of OMPI_COMM_WORLD_RANK") != std::string::npos, program.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::ranks_test

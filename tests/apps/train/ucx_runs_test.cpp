// Training over processes that exchange tensors through UCX: the results have the same bits as in one process, also when a process
// is killed. The nodes refuse all others, so a run that ends well has used UCX.
#include <boost/test/unit_test.hpp>

#include <csignal>

#include "actors/net/transport/ucx_network.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/program.h"

namespace troupe::ucx_runs_test {
namespace {

using test::Program;

struct Fixture : test::DigitsRuns {
  Arguments settings(int epochs, const std::string& mode, const Arguments& more = {}) const {
    Arguments all = {"--set", "train.max_epochs=" + std::to_string(epochs),
                     "--set", "train.early_stop.keep_best=false",
                     "--set", "train.replication={shards=2,mode=\"" + mode + "\"}"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

BOOST_FIXTURE_TEST_SUITE(ucx_runs, Fixture)

BOOST_AUTO_TEST_CASE(training_through_ucx_has_the_bits_of_training_over_tcp) {
  if (!has_ucx()) return;
  BOOST_TEST(Program(test::troupe_program(), run("train", "alone", settings(3, "sync"))).end() == 0);
  for (const auto& [mode, layout] : {std::pair("sync", "ps=1,worker=2"), std::pair("allreduce", "worker=2")})
    for (const std::string transport : {"tcp", "ucx"}) {
      Program apart(
          test::troupe_program(),
          run("train", mode + transport, settings(3, mode, {"--local", layout, "--transport", transport})));
      BOOST_TEST(apart.end() == 0, apart.output());
      check_equal(weights(mode + transport), weights("alone"));
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_is_replaced) {
  if (!has_ucx()) return;
  BOOST_TEST(Program(test::troupe_program(), run("train", "alone", settings(30, "allreduce"))).end() == 0);
  Program launcher(test::troupe_program(),
                   run("train", "killed",
                       settings(30, "allreduce",
                                {"--local", "worker=2", "--transport", "ucx", "--set",
                                 "train.fault.max_restarts=3", "--set", "train.checkpoint.every=20 steps"})));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  const auto nodes = test::children_of(launcher.process());
  BOOST_TEST_REQUIRE(nodes.size() == 2u);
  ::kill(nodes[0], SIGKILL);
  BOOST_TEST(launcher.end() == 0, launcher.output());
  check_equal(weights("killed"), weights("alone"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::ucx_runs_test

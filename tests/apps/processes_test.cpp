// Training over real processes: the same weights as in one process; and whoever dies, the run says so and nobody is left behind.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "messages/real_disk.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using test::Program;

const std::string digits = TROUPE_SOURCE_DIR "/examples/digits.toml";

struct Fixture {
  /// The arguments of a run of its own name.
  std::vector<std::string> run(const std::string& name, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {
        "train", digits, "--set", "run.directory=" + folder.path(), "--set", "run.name=" + name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<std::string> endless(const std::string& name) const {
    return run(name, {"--local", "ps=1,worker=2", "--set", "train.max_epochs=100000", "--set",
                      "train.early_stop.patience=100000"});
  }
  test::WholeCheckpoint weights(const std::string& name) {
    std::vector<std::string> skipped;
    auto newest =
        value_or_throw(test::load_newest(disk, folder.path() + "/" + name + "/001/checkpoints", skipped));
    std::ranges::sort(newest.tensors, {}, &SavedTensor::name);
    return newest;
  }
  static bool gone_within(const std::vector<pid_t>& processes, std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (std::ranges::any_of(processes, test::is_running)) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(10ms);
    }
    return true;
  }

  const test::TemporaryFolder folder;
  RealDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(processes, Fixture)

BOOST_AUTO_TEST_CASE(weights_are_those_of_one_process) {
  const std::vector<std::string> epochs = {"--set", "train.max_epochs=3", "--set",
                                           "train.early_stop.keep_best=false"};
  BOOST_TEST(Program(TROUPE_PROGRAM, run("alone", epochs)).end() == 0);
  const auto alone = weights("alone");
  for (const std::string layout : {"ps=1,worker=2", "ps=2,worker=2"}) {
    auto more = epochs;
    more.insert(more.end(), {"--local", layout});
    Program apart(TROUPE_PROGRAM, run(layout, more));
    BOOST_TEST(apart.end() == 0, apart.output());
    const auto weights_apart = weights(layout);
    BOOST_TEST_REQUIRE(weights_apart.tensors.size() == alone.tensors.size());
    for (size_t i = 0; i < alone.tensors.size(); ++i)
      BOOST_TEST(identical(weights_apart.tensors[i].value, alone.tensors[i].value), alone.tensors[i].name);
  }
}

BOOST_AUTO_TEST_CASE(a_node_that_is_killed_is_named_and_ends_the_run) {
  for (const size_t victim : {0, 1, 2}) {
    Program launcher(TROUPE_PROGRAM, endless("victim" + std::to_string(victim)));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
    const auto nodes = test::children_of(launcher.process());
    BOOST_TEST_REQUIRE(nodes.size() == 3u);
    const auto begin = std::chrono::steady_clock::now();
    kill(nodes[victim], SIGKILL);
    BOOST_TEST(launcher.end() == 1);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 20s));  // a hang; it takes 0.1 s
    const std::string loss = "(process " + std::to_string(nodes[victim]) + ") was killed by signal 9";
    BOOST_TEST(launcher.output().find(loss) != std::string::npos, launcher.output());
    BOOST_TEST(gone_within(nodes, 0ms));
  }
}

BOOST_AUTO_TEST_CASE(nodes_end_with_whoever_started_them) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    Program launcher(TROUPE_PROGRAM, endless("signal" + std::to_string(signal)));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
    const auto nodes = test::children_of(launcher.process());
    BOOST_TEST(launcher.end(signal) == (signal == SIGKILL ? -SIGKILL : 0));
    BOOST_TEST(gone_within(nodes, 20s));
  }
  BOOST_TEST(weights("signal15").round > 0u);
}

BOOST_AUTO_TEST_CASE(bad_calls_name_what_is_wrong) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& text) {
    Program program(TROUPE_PROGRAM, arguments);
    BOOST_TEST(program.end() != 0);
    BOOST_TEST(program.output().find(text) != std::string::npos, program.output());
  };
  refused(run("bad", {"--local", "ps"}), "'ps' is not JOB=COUNT");
  refused(run("bad", {"--local", "worker=0"}), "'worker=0' is not JOB=COUNT");
  const std::string cluster =
      folder.write("cluster.toml", "cluster = { name = 'lab' }\n[jobs]\nps = ['127.0.0.1:1', 'x']\n");
  refused({"node", "--cluster", cluster, "--job", "ps"},
          "cluster.toml:3:22: jobs.ps: expected \"host:port\"");
  const std::string good =
      folder.write("good.toml", "cluster = { name = 'lab' }\n[jobs]\nps = '127.0.0.1:1'\n");
  refused({"node", "--cluster", good, "--job", "worker"}, "has no task 0 of job 'worker'");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe

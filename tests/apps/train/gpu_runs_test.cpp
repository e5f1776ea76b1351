// Training with several real processes, each of which computes on a GPU of the machine or on a part of one: the weights are those
// of one process but for the last bits. On a machine without a GPU the suite is skipped.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <tuple>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/gpu/gpu_runtime.h"
#include "tests/support/ops/golden_values.h"

namespace troupe::gpu_runs_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;

const std::string allreduce = "mode=\"allreduce\"";

struct Runs : test::DigitsRuns {
  /// `replication` is what train.replication has beside its shards.
  static Arguments train(const std::string& replication, const Arguments& more = {}) {
    Arguments all = {"--set", "run.gpus=-1",
                     "--set", "train.max_epochs=6",
                     "--set", "train.early_stop.keep_best=false",
                     "--set", "train.replication={shards=2," + replication + "}"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void check_close(const std::string& name, const std::string& expected) {
    const test::WholeCheckpoint apart = weights(name), alone = weights(expected);
    for (const SavedTensor& tensor : alone.tensors) {
      if (tensor.value.dtype() != DType::Float || tensor.name.ends_with("/round")) continue;
      const auto same = std::ranges::find(apart.tensors, tensor.name, &SavedTensor::name);
      BOOST_TEST_REQUIRE((same != apart.tensors.end()), tensor.name);
      const std::string unlike = test::difference(same->value, tensor.value, {.absolute = 1e-3});
      BOOST_TEST(unlike.empty(), tensor.name << ": " << unlike);
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_runs, *boost::unit_test::precondition(test::needs_gpu))

BOOST_FIXTURE_TEST_CASE(processes_train_as_one_does, Runs) {
  const std::tuple<std::string, std::string, std::string> ways[] = {
      {"allreduce", allreduce, "worker=2"},
      {"sync", "mode=\"sync\"", "ps=1,worker=2"},
      {"local_sgd", "mode=\"local_sgd\",average_every=4", "worker=2"}};
  for (const auto& [name, replication, layout] : ways) {
    BOOST_TEST_INFO_SCOPE(replication);
    BOOST_TEST(Program(test::troupe_program(), run("train", name + "_alone", train(replication))).end() == 0);
    Program apart(test::troupe_program(),
                  run("train", name + "_apart", train(replication, {"--local", layout})));
    BOOST_TEST(apart.end() == 0, apart.output());
    check_close(name + "_apart", name + "_alone");
  }
}

// With fewer GPUs than stages, all stages compute on CPUs.
BOOST_FIXTURE_TEST_CASE(stages_on_gpus_learn_what_stages_on_cpus_learn, Runs) {
  setenv("TROUPE_EMULATED_GPUS", "3", 1);
  for (const std::string gpus : {"0", "-1"}) {
    Program program(test::troupe_program(),
                    run("train", "stages" + gpus,
                        {"--set", "run.gpus=" + gpus, "--set", "train.max_epochs=2"}, "digits_lstm"));
    BOOST_TEST(program.end() == 0, program.output());
  }
  unsetenv("TROUPE_EMULATED_GPUS");
  check_close("stages-1", "stages0");
}

BOOST_FIXTURE_TEST_CASE(a_worker_that_is_killed_is_replaced, Runs) {
  const Arguments epochs = {"--set", "train.max_epochs=20"};
  BOOST_TEST(Program(test::troupe_program(), run("train", "alone", train(allreduce, epochs))).end() == 0);
  Arguments more = epochs;
  more.insert(more.end(), {"--local", "worker=2", "--set", "train.fault.max_restarts=3", "--set",
                           "train.checkpoint.every=20 steps"});
  Program launcher(test::troupe_program(), run("train", "killed", train(allreduce, more)));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  const auto nodes = test::children_of(launcher.process());
  BOOST_TEST_REQUIRE(nodes.size() == 2u);
  kill(nodes.back(), SIGKILL);
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(launcher.output().find("restart 1 of 3") != std::string::npos, launcher.output());
  check_close("killed", "alone");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::gpu_runs_test

// Local SGD: with all workers in one process, each on its own thread, and in real processes. Weights are those of one graph with
// the same shards, bit for bit.
//
//   worker k:  batch -> a tower per shard of k -> update of the copies of that shard -> ... -> WeightedAllReduce of the copies
#include <boost/test/unit_test.hpp>

#include <csignal>

#include <thread>

#include "apps/train/rounds/peer_replica.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/apps/train/training_setting.h"

namespace troupe::train::local_sgd_test {
namespace {

using Settings = std::vector<std::string>;
using Outcome = test::TrainingOutcome;
using test::Program;
constexpr uint64_t rounds = 25;  // an epoch has 23 rounds, so the last averaging is two rounds before the end

const std::string nesterov = "outer={type=\"momentum\",lr=0.5,momentum=0.5,nesterov=true}";

Settings both(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string replication(const std::string& more) {
  return "train.replication={mode=\"local_sgd\"," + more + "}";
}

Outcome by_workers(const std::string& example, const Settings& set, uint64_t count) {
  test::TrainingSetting setting(example, set);
  const auto workers = std::min(setting.config.cluster.tasks.at("worker"), setting.config.shards());
  std::vector<std::thread> threads;
  for (int64_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      PeerReplica replica(setting.runtime, setting.config, worker, 1);
      replica.begin(0);
      for (uint64_t round = 1; round <= count; ++round) replica.run(round);
    });
  for (auto& thread : threads) thread.join();
  return {setting.weights(), {}};
}

void check_workers(const std::string& example, const Settings& model, uint64_t count) {
  const Outcome one = test::in_one_graph(example, model, count);
  for (const std::string workers : {"2", "3"}) {
    const Outcome apart =
        by_workers(example, both(model, {"cluster.in_process={worker=" + workers + "}"}), count);
    BOOST_TEST_REQUIRE(apart.weights.size() == one.weights.size());
    for (size_t i = 0; i < one.weights.size(); ++i)
      BOOST_TEST(identical(apart.weights[i], one.weights[i]), i);
  }
}

struct Runs : test::DigitsRuns {
  Settings run(const std::string& name, const Settings& more) const {
    return DigitsRuns::run("train", name, more);
  }
  static Settings until(int epochs, const std::string& more) {
    return {"--set", "train.max_epochs=" + std::to_string(epochs),
            "--set", replication(more),
            "--set", "train.early_stop.keep_best=false"};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(local_sgd, Runs)

BOOST_AUTO_TEST_CASE(workers_do_what_one_graph_does) {
  check_workers("digits", {replication("average_every=4,shards=2")}, rounds);
  check_workers("digits", {replication("average_every=7,shards=3," + nesterov), "train.average=0.5"}, rounds);
  check_workers("digits",
                {replication("average_every=5,shards=4,outer={type=\"adam\",lr=0.01}"),
                 "train.optimizer={type=\"adamw\",lr=0.01}", "train.schedule={type=\"cosine\",steps=10}",
                 "train.plateau={monitor=\"valid/loss\",mode=\"min\",patience=1}"},
                rounds);
}

// Batch norm has moving averages, dropout draws numbers.
BOOST_AUTO_TEST_CASE(moving_averages_and_random_numbers_are_those_of_one_graph) {
  check_workers("digits_cnn", {replication("average_every=2,shards=2")}, 4);
}

// Averages after each update of gradient descent are one update with the mean of the gradients.
BOOST_AUTO_TEST_CASE(averaging_every_round_is_synchronous_descent) {
  const Settings descent = {"train.optimizer={type=\"sgd\",lr=0.1}", "data.batch=40"};
  const Outcome averaged =
      test::in_one_graph("digits", both(descent, {replication("average_every=1,shards=2")}), 10);
  const Outcome together = test::in_one_graph("digits", descent, 10);
  const auto a = averaged.weights[0].as<float>(), b = together.weights[0].as<float>();
  BOOST_TEST_REQUIRE(a.size() == b.size());
  for (size_t k = 0; k < b.size(); ++k) BOOST_TEST(std::abs(a[k] - b[k]) < 1e-5f);
}

// An outer rate of 1 without momentum is the plain average, but for rounding.
BOOST_AUTO_TEST_CASE(digits_are_learned_by_any_number_of_workers) {
  for (const std::string& outer : {std::string(), ',' + nesterov}) {
    const std::string name = outer.empty() ? "plain" : "outer";
    const Settings brief = until(12, "average_every=8,shards=3" + outer);
    Program alone(test::troupe_program(), run(name + "_alone", brief));
    BOOST_TEST(alone.end() == 0, alone.output());
    const std::string key = "valid/accuracy ";
    BOOST_TEST(std::stod(alone.output().substr(alone.output().rfind(key) + key.size())) > 0.94,
               alone.output());
    for (const std::string workers : {"2", "3"}) {
      Program apart(test::troupe_program(),
                    run(name + workers, both(brief, {"--local", "worker=" + workers})));
      BOOST_TEST(apart.end() == 0, apart.output());
      check_equal(weights(name + workers), weights(name + "_alone"));
    }
  }
}

// Checkpoints lie between averagings, too, and a run is resumed with another number of workers.
BOOST_AUTO_TEST_CASE(a_resumed_run_ends_as_an_undisturbed_one) {
  const std::string how = "average_every=8,shards=3," + nesterov;
  BOOST_TEST(Program(test::troupe_program(), run("alone", until(3, how))).end() == 0);
  for (const std::string workers : {"2", "3"}) {
    Settings more =
        both(until(3, how), {"--local", "worker=" + workers, "--set", "train.fault.max_restarts=2", "--set",
                             "train.checkpoint.every=5 steps"});
    Program launcher(test::troupe_program(), run("killed" + workers, more));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 1"));
    kill(test::children_of(launcher.process()).at(1), SIGKILL);
    BOOST_TEST(launcher.end() == 0, launcher.output());
    check_equal(weights("killed" + workers), weights("alone"));
  }
  BOOST_TEST(Program(test::troupe_program(), run("moved", until(1, how))).end() == 0);
  Program moved(test::troupe_program(),
                run("moved", both(until(3, how), {"--local", "worker=2", "--resume", "auto"})));
  BOOST_TEST(moved.end() == 0, moved.output());
  check_equal(weights("moved"), weights("alone"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::train::local_sgd_test

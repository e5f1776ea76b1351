// Training without parameter servers: with all workers in one process, each on its own thread, and in real processes. Weights and
// losses are those of one process with the same shards, bit for bit.
//
//   worker k:  batch -> a tower per shard of k -> WeightedAllReduce, AllGather with the others -> update of its own variables
#include "apps/train/rounds/peer_replica.h"

#include <boost/algorithm/string/join.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>

#include <thread>

#include "apps/train/graphs/peer_graph.h"
#include "graph/build/needed_part.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/apps/train/training_setting.h"

namespace troupe::train::allreduce_test {
namespace {

using Settings = std::vector<std::string>;
using Outcome = test::TrainingOutcome;
using test::Program;
constexpr uint64_t rounds = 25;  // an epoch has 23 rounds, and its last batch is smaller than the others

Settings both(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Outcome by_workers(const std::string& example, const Settings& set, uint64_t count) {
  test::TrainingSetting setting(example, set);
  const auto workers = std::min(setting.config.cluster.tasks.at("worker"), setting.config.shards());
  Outcome outcome;
  std::vector<std::thread> threads;
  for (int64_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      PeerReplica replica(setting.runtime, setting.config, worker, 1);
      replica.begin(0);
      for (uint64_t round = 1; round <= count; ++round) {
        const double loss = replica.run(round).loss;
        if (worker == workers - 1) outcome.losses.push_back(loss);
      }
    });
  for (auto& thread : threads) thread.join();
  outcome.weights = setting.weights();
  return outcome;
}

void check_workers(const std::string& example, const Settings& model, const Settings& tasks, uint64_t count) {
  const Outcome one = test::in_one_graph(example, model, count),
                apart = by_workers(example, both(model, tasks), count);
  BOOST_TEST_INFO_SCOPE(boost::algorithm::join(both(model, tasks), " "));
  BOOST_TEST(apart.losses == one.losses, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(apart.weights.size() == one.weights.size());
  for (size_t i = 0; i < one.weights.size(); ++i) BOOST_TEST(identical(apart.weights[i], one.weights[i]));
}

/// Returns the accuracy that a run has printed last.
double accuracy(const std::string& output) {
  const std::string key = "valid/accuracy ";
  const size_t at = output.rfind(key);
  BOOST_TEST_REQUIRE(at != std::string::npos, output);
  return std::stod(output.substr(at + key.size()));
}

struct Runs : test::DigitsRuns {
  Settings run(const std::string& name, const Settings& more, const std::string& example = "digits") const {
    return DigitsRuns::run("train", name, more, example);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(allreduce, Runs)

/// A model that looks its pixels up in a table, so that the gradient of the table is rows.
const Settings lookups = {
    "data.inputs={token={from=\"image\",cast=\"int32\"},label={from=\"label\"}}", "data.scale=1",
    "model.variables={table={shape=[17,4],init=\"normal\"},w={shape=[256,10],init=\"glorot_uniform\"}}",
    "model.graph={logits=\"matmul(reshape(gather(table, token), [-1, 256]), w)\","
    "loss=\"mean(sparse_softmax_cross_entropy_with_logits(logits, label))\"}"};

const std::vector<Settings> models = {
    {"train.optimizer.type=sgd", "train.replication.shards=1"},
    {"train.optimizer={type=\"momentum\",lr=0.1,momentum=0.9,nesterov=true}", "train.replication.shards=3"},
    {"train.optimizer={type=\"adamw\",lr=0.01}", "train.schedule={type=\"cosine\",steps=10,warm_up=3}",
     "train.clip={global_norm=0.5}", "train.weight_decay=0.01", "train.average=0.9",
     "train.plateau={monitor=\"valid/loss\",mode=\"min\",patience=1}"},
    both(lookups, {"train.optimizer={type=\"adagrad\",lr=0.1}", "train.replication.shards=3",
                   "train.clip={norm=0.1}", "train.weight_decay=0.01"}),
    both(lookups, {"train.optimizer={type=\"adam\",lr=0.01,lazy=true}"})};

const std::vector<Settings> clusters = {{"cluster.in_process={worker=2}"}, {"cluster.in_process={worker=3}"}};

BOOST_AUTO_TEST_CASE(workers_do_what_one_graph_does) {
  for (const Settings& model : models)
    for (const Settings& tasks : clusters)
      check_workers("digits", both(model, {"train.replication.mode=allreduce"}), tasks, rounds);
}

BOOST_AUTO_TEST_CASE(workers_that_share_out_the_optimizer_do_what_one_graph_does) {
  for (const Settings& model : models)
    for (const Settings& tasks : clusters)
      check_workers(
          "digits",
          both(model, {"train.replication.mode=allreduce", "train.replication.shard_optimizer=true"}), tasks,
          rounds);
}

BOOST_AUTO_TEST_CASE(compressed_gradients_yield_the_weights_of_one_graph) {
  for (const std::string compression : {"\"bfloat16\"", "\"float16\"", "\"topk\",keep=0.05"})
    for (const Settings& tasks : clusters) {
      const Settings how = {"train.replication={mode=\"allreduce\",shards=3,compression=" + compression +
                            "}"};
      check_workers("digits", how, tasks, rounds);
      check_workers("digits", both(lookups, both(how, {"train.optimizer={type=\"adagrad\",lr=0.1}"})), tasks,
                    rounds);
      check_workers("digits", both(how, {"train.replication.shard_optimizer=true"}), tasks, rounds);
    }
}

// The first scales are infinite in half, and later ones are now and then.
BOOST_AUTO_TEST_CASE(workers_agree_about_a_dynamic_scale_of_the_loss) {
  const Settings in_half = {
      "model.graph={logits=\"cast(matmul(cast(image, 'half'), cast(matmul(w1, w2), 'half')), 'float')\","
      "loss=\"mean(sparse_softmax_cross_entropy_with_logits(logits, label))\"}",
      "train.loss_scale={type=\"dynamic\",initial=1e6,grow_after=3}",
      "train.replication={mode=\"allreduce\",shards=3}"};
  for (const Settings& tasks : clusters) check_workers("digits", in_half, tasks, rounds);
}

// A worker's second shard must not read what its first one has changed.
BOOST_AUTO_TEST_CASE(updates_wait_until_every_shard_has_read_the_variable) {
  test::TrainingSetting setting(
      "digits", both(both(lookups, clusters.front()), {"train.optimizer={type=\"adagrad\",lr=0.1}",
                                                       "train.replication={mode=\"allreduce\",shards=3}"}));
  Graph graph(setting.runtime.ops());
  const PeerGraph worker =
      value_or_throw(build_allreduce_graph(setting.config, setting.data->columns(), 0, "training", graph));
  BOOST_TEST_REQUIRE(worker.shards.size() == 2u);
  size_t readers = 0;
  for (const Node& update : graph.nodes()) {
    if (update.type() != "ApplyAdagrad" && update.type() != "SparseApplyAdagrad") continue;
    const std::vector<bool> before = nodes_needed(graph, {{update.id, 0}});
    for (const Node& node : graph.nodes())
      if (node.name.starts_with("shard_") && std::ranges::count(node.inputs, update.inputs[0]) != 0) {
        BOOST_TEST(before[node.id],
                   update.name << " may run before " << node.name << " has read its variable");
        ++readers;
      }
  }
  BOOST_TEST(readers == 6u);  // of each shard: the lookup, the product, and the gradient of the product
}

// What was not sent is not lost: with a small share of the elements the model learns nearly as well.
BOOST_AUTO_TEST_CASE(compressed_gradients_train) {
  for (const std::string compression : {"\"bfloat16\"", "\"topk\",keep=0.02"}) {
    Program program(test::troupe_program(),
                    run("small", {"--local", "worker=2", "--set", "train.max_epochs=15", "--set",
                                  "train.replication={mode=\"allreduce\",compression=" + compression + "}"}));
    BOOST_TEST(program.end() == 0, program.output());
    BOOST_TEST(accuracy(program.output()) > 0.93, program.output());
  }
}

// Batch norm has moving averages, dropout draws numbers.
BOOST_AUTO_TEST_CASE(moving_averages_and_random_numbers_are_those_of_one_graph) {
  for (const std::string shared_out : {"false", "true"})
    check_workers("digits_cnn",
                  {"train.replication.mode=allreduce", "train.replication.shards=2",
                   "train.replication.shard_optimizer=" + shared_out},
                  {"cluster.in_process={worker=2}"}, 4);
}

// Without GPUs nothing can be exchanged between them.
BOOST_AUTO_TEST_CASE(a_run_that_demands_nccl_says_why_it_cannot_have_it) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "/job:worker/replica:0/task:0: the task has no GPU"},
      {",compression=\"topk\"", "gradients are compressed (train.replication.compression = \"topk\")"}};
  for (const auto& [more, reason] : cases) {
    Program program(
        test::troupe_program(),
        run("demanding", {"--local", "worker=2", "--set",
                          "train.replication={mode=\"allreduce\",collectives=\"nccl\"" + more + "}"}));
    BOOST_TEST(program.end() != 0);
    BOOST_TEST(program.output().find("the GPUs of the workers cannot exchange gradients: " + reason) !=
                   std::string::npos,
               program.output());
  }
}

BOOST_AUTO_TEST_CASE(processes_train_and_are_resumed_in_other_modes) {
  const auto epochs = [](int max_epochs, const std::string& mode) {
    return Settings{"--set", "train.max_epochs=" + std::to_string(max_epochs),
                    "--set", "train.early_stop.keep_best=false",
                    "--set", "train.replication={shards=2,mode=" + mode + "}"};
  };
  BOOST_TEST(Program(test::troupe_program(), run("alone", epochs(6, "\"sync\""))).end() == 0);
  const std::string shared_out = "\"allreduce\",shard_optimizer=true";
  const std::pair<std::string, std::string> ways[] = {
      {"\"allreduce\"", "worker=2"}, {"\"sync\"", "ps=1,worker=2"}, {shared_out, "worker=2"},
      {"\"allreduce\"", "worker=3"}, {shared_out, "worker=1"},      {"\"allreduce\"", "worker=1"}};
  int max_epochs = 0;
  for (const auto& [mode, layout] : ways) {
    Settings more = epochs(++max_epochs, mode);
    more.insert(more.end(), {"--local", layout});
    if (max_epochs > 1) more.insert(more.end(), {"--resume", folder.path() + "/moved/001"});
    Program apart(test::troupe_program(), run("moved", more));
    BOOST_TEST(apart.end() == 0, apart.output());
  }
  DigitsRuns::check_equal(weights("moved"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_is_replaced) {
  const Settings brief = {"--set", "train.max_epochs=40",
                          "--set", "train.early_stop.keep_best=false",
                          "--set", "train.replication.mode=allreduce",
                          "--set", "train.replication.shards=2"};
  BOOST_TEST(Program(test::troupe_program(), run("alone", brief)).end() == 0);
  for (const size_t victim : {0, 1}) {
    const std::string name = "victim" + std::to_string(victim);
    const std::string shared_out = victim == 1 ? "true" : "false";
    Program launcher(test::troupe_program(),
                     run(name, both(brief, {"--local", "worker=2", "--set", "train.fault.max_restarts=3",
                                            "--set", "train.checkpoint.every=20 steps", "--set",
                                            "train.replication.shard_optimizer=" + shared_out})));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
    const auto nodes = test::children_of(launcher.process());
    BOOST_TEST_REQUIRE(nodes.size() == 2u);
    kill(nodes[victim], SIGKILL);
    BOOST_TEST(launcher.end() == 0, launcher.output());
    DigitsRuns::check_equal(weights(name), weights("alone"));
  }
}

// The others find that it is silent and begin anew, while it still waits for its former client.
BOOST_AUTO_TEST_CASE(a_worker_that_does_not_run_for_a_while_takes_part_again) {
  const Settings brief = {"--set", "train.max_epochs=100",
                          "--set", "train.early_stop.patience=1000",
                          "--set", "train.replication={mode=\"allreduce\",shards=2}"};
  BOOST_TEST(Program(test::troupe_program(), run("alone", brief)).end() == 0);
  Program launcher(test::troupe_program(),
                   run("stalled", both(brief, {"--local", "worker=2", "--set", "train.fault.max_restarts=9",
                                               "--set", "train.checkpoint.every=20 steps"})));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  const pid_t stalled = test::children_of(launcher.process()).back();
  kill(stalled, SIGSTOP);
  BOOST_TEST_REQUIRE(launcher.wait_for("restart 1 of 9"), launcher.output());
  kill(stalled, SIGCONT);
  BOOST_TEST(launcher.end() == 0, launcher.output());
  DigitsRuns::check_equal(weights("stalled"), weights("alone"));
}

// What the shards have kept is lost with the worker, but the run ends well.
BOOST_AUTO_TEST_CASE(a_run_with_compressed_gradients_survives_the_loss_of_a_worker) {
  for (const std::string layout : {"worker=2", "ps=1,worker=2"}) {
    const std::string mode = layout.starts_with("ps") ? "sync" : "allreduce";
    Program launcher(test::troupe_program(),
                     run(mode, {"--local", layout, "--set", "train.max_epochs=30", "--set",
                                "train.early_stop.patience=1000", "--set",
                                "train.replication={mode=\"" + mode + "\",compression=\"bfloat16\"}", "--set",
                                "train.fault.max_restarts=3", "--set", "train.checkpoint.every=20 steps"}));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
    kill(test::children_of(launcher.process()).back(), SIGKILL);
    BOOST_TEST(launcher.end() == 0, launcher.output());
    BOOST_TEST(accuracy(launcher.output()) > 0.93);
    Program resumed(test::troupe_program(),
                    run(mode, {"--resume", "auto", "--set", "train.max_epochs=32", "--set",
                               "train.early_stop.patience=1000", "--set",
                               "train.replication={mode=\"" + mode + "\",shards=2,compression=\"topk\"}"}));
    BOOST_TEST(resumed.end() == 0, resumed.output());
  }
}

BOOST_AUTO_TEST_CASE(parameter_servers_are_refused) {
  Program program(test::troupe_program(),
                  run("wrong", {"--local", "ps=1,worker=2", "--set", "train.replication.mode=allreduce"}));
  BOOST_TEST(program.end() != 0);
  BOOST_TEST(program.output().find("the cluster must have no ps") != std::string::npos, program.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::train::allreduce_test

// Between-graph replication with all tasks in one process. Replicas, each on its own thread, yield the same weights and losses, bit
// for bit, as one graph with all towers.
//
//   replica of worker k:  values, batch -> a step per shard of k -> SyncReplicasApply at the variables' task -> new values
#include "apps/train/rounds/replica.h"

#include <boost/test/unit_test.hpp>

#include <thread>

#include "tests/apps/train/training_setting.h"
#include "tests/support/round_coordinator.h"

namespace troupe::train::replica_test {
namespace {

using Settings = std::vector<std::string>;
using Outcome = test::TrainingOutcome;
constexpr uint64_t training = 5;
constexpr uint64_t rounds = 25;  // an epoch has 23 rounds, and its last batch is smaller than the others

Outcome by_replicas(const Settings& set) {
  test::TrainingSetting setting("digits", set);
  const auto workers = std::min(setting.config.cluster.tasks.at("worker"), setting.config.shards());
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int64_t worker = 0; worker < workers; ++worker)
    replicas.push_back(std::make_unique<Replica>(setting.runtime, setting.config, worker, training));
  const test::RoundCoordinator coordinator(
      setting.runtime,
      {.tasks = {setting.config.cluster.tasks.contains("ps") ? "/job:ps" : "/job:worker/task:0"},
       .training = training,
       .shards = static_cast<uint32_t>(setting.config.shards()),
       .required = static_cast<uint32_t>(setting.config.shards()),
       .pushes = static_cast<uint32_t>(replicas.front()->pushes())});
  Outcome outcome;
  std::vector<std::thread> threads;
  for (int64_t worker = 0; worker < workers; ++worker) {
    std::vector<int64_t> mine;
    for (int64_t shard = worker; shard < setting.config.shards(); shard += workers) mine.push_back(shard);
    Replica& replica = *replicas[static_cast<size_t>(worker)];
    replica.begin(0);
    replica.assign(mine, 1);
  }
  for (auto& replica : replicas)
    threads.emplace_back([&, one = replica.get()] {
      for (uint64_t round = 1; round <= rounds; ++round) {
        const double loss = one->run(round).loss;
        if (one == replicas.back().get()) outcome.losses.push_back(loss);
      }
    });
  for (auto& thread : threads) thread.join();
  for (auto& replica : replicas) BOOST_TEST(!replica->sampler().take().empty());
  outcome.weights = setting.weights();
  return outcome;
}

Settings both(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

BOOST_AUTO_TEST_SUITE(replica)

/// A model that looks its pixels up in a table, so that the gradient of the table is rows.
const Settings lookups = {
    "data.inputs={token={from=\"image\",cast=\"int32\"},label={from=\"label\"}}", "data.scale=1",
    "model.variables={table={shape=[17,4],init=\"normal\"},w={shape=[256,10],init=\"glorot_uniform\"}}",
    "model.graph={logits=\"matmul(reshape(gather(table, token), [-1, 256]), w)\","
    "loss=\"mean(sparse_softmax_cross_entropy_with_logits(logits, label))\"}"};

BOOST_AUTO_TEST_CASE(replicas_do_what_one_graph_does) {
  const std::vector<Settings> models = {
      {},
      {"train.optimizer.type=sgd"},
      {"train.optimizer={type=\"momentum\",lr=0.1,momentum=0.9,nesterov=true}", "train.replication.shards=3"},
      {"train.optimizer={type=\"adamw\",lr=0.01}", "train.schedule={type=\"cosine\",steps=10,warm_up=3}",
       "train.clip={global_norm=0.5}", "train.weight_decay=0.01", "train.average=0.9",
       "train.plateau={monitor=\"valid/loss\",mode=\"min\",patience=1}"},
      {"train.replication={mode=\"sync\",shards=3,compression=\"bfloat16\"}"},
      {"train.replication={mode=\"sync\",shards=2,compression=\"topk\",keep=0.1}"},
      {"train.replication={mode=\"sync\",shards=3,combine=\"median\"}", "data.batch=100"},
      {"train.replication={mode=\"sync\",shards=4,combine=\"sign(sum(gradients * samples, 0))\"}",
       "train.optimizer={type=\"sgd\",lr=0.001}"},
      both(lookups,
           {"train.optimizer={type=\"adagrad\",lr=0.1}",
            "train.replication={mode=\"sync\",shards=3,combine=\"(mean + gather(sorted, 0)) / 2\"}"}),
      both(lookups, {"train.optimizer={type=\"adagrad\",lr=0.1}", "train.replication.shards=3",
                     "train.clip={norm=0.1}", "train.weight_decay=0.01"}),
      both(lookups, {"train.optimizer={type=\"adam\",lr=0.01,lazy=true}", "train.replication.shards=1"}),
      both(lookups, {"train.optimizer={type=\"adam\",lr=0.01}"}),
      both(lookups, {"train.optimizer={type=\"sgd\",lr=0.1}"})};
  for (const Settings& model : models) {
    const Outcome one = test::in_one_graph("digits", model, rounds);
    for (const Settings& tasks : std::vector<Settings>{{"cluster.in_process={ps=1,worker=2}"},
                                                       {"cluster.in_process={ps=2,worker=2}"},
                                                       {"cluster.in_process={worker=3}"}}) {
      const Outcome apart = by_replicas(both(model, tasks));
      BOOST_TEST(apart.losses == one.losses, boost::test_tools::per_element());
      BOOST_TEST_REQUIRE(apart.weights.size() == one.weights.size());
      for (size_t i = 0; i < one.weights.size(); ++i) BOOST_TEST(identical(apart.weights[i], one.weights[i]));
    }
  }
}

// A takeover may overtake the assignment before it, which another thread carries out.
BOOST_AUTO_TEST_CASE(an_assignment_behind_a_later_one_has_no_effect) {
  test::TrainingSetting setting("digits",
                                {"cluster.in_process={ps=1,worker=1}", "train.replication.shards=2"});
  Replica replica(setting.runtime, setting.config, 0, training);
  replica.assign({1, 0}, 2);
  replica.assign({1}, 1);
  BOOST_TEST(replica.shards() == (std::vector<int64_t>{1, 0}), boost::test_tools::per_element());
  replica.assign({0}, 3);
  BOOST_TEST(replica.shards() == std::vector<int64_t>{0}, boost::test_tools::per_element());
}

// A replica that skipped a round would make the others wait forever for its gradients.
BOOST_AUTO_TEST_CASE(only_the_next_round_is_run) {
  test::TrainingSetting setting("digits",
                                {"cluster.in_process={ps=1,worker=1}", "train.replication.shards=1"});
  Replica replica(setting.runtime, setting.config, 0, training);
  const test::RoundCoordinator coordinator(
      setting.runtime, {.training = training, .pushes = static_cast<uint32_t>(replica.pushes())});
  replica.begin(0);
  replica.assign({0}, 1);
  replica.run(1);
  for (const uint64_t round : {0u, 1u, 3u, 900u})
    BOOST_CHECK_EXCEPTION(replica.run(round), Error, [&](const Error& error) {
      return error.status().code() == Code::InvalidArgument &&
             error.status().text() ==
                 "round " + std::to_string(round) + " is requested, but the next one is 2";
    });
  replica.run(2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::train::replica_test

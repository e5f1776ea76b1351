// Workers of a training that keep its variables on GPUs: they do what one graph with all towers does.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <thread>

#include "actors/runtime_impl.h"
#include "apps/train/rounds/peer_replica.h"
#include "tests/apps/train/training_setting.h"
#include "tests/gpu/gpu_machine.h"

namespace troupe::test::gpu_training_test {
namespace {

using Settings = std::vector<std::string>;
constexpr uint64_t rounds = 25;  // the last batch of an epoch is smaller than the others
constexpr int64_t workers = 2;

/// Trains with two workers in this process. Returns the weights of the first.
TrainingOutcome by_workers(const Settings& set, bool exchanges_on_gpus) {
  Settings all = set;
  all.emplace_back("cluster.in_process={worker=2}");
  TrainingSetting setting("digits", all, with_gpus(1));
  setting.config.cluster.exchanges_on_gpus = exchanges_on_gpus;
  TrainingOutcome outcome;
  std::vector<std::thread> threads;
  for (int64_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      train::PeerReplica replica(setting.runtime, setting.config, worker, 1);
      replica.begin(0);
      for (uint64_t round = 1; round <= rounds; ++round) {
        const double loss = replica.run(round).loss;
        if (worker == 0) outcome.losses.push_back(loss);
      }
    });
  for (auto& thread : threads) thread.join();
  outcome.weights = setting.weights();
  return outcome;
}

const Settings models[] = {
    {"run.gpus=-1", "train.replication.mode=allreduce",
     "train.optimizer={type=\"momentum\",lr=0.1,momentum=0.9}"},
    {"run.gpus=-1", "train.replication.mode=allreduce", "train.optimizer={type=\"adam\",lr=0.01}",
     "train.average=0.9", "train.replication.shard_optimizer=true"}};

/// Adds a setting with which each worker has two shards, or three and two.
Settings with_shards(Settings model, int shards) {
  model.push_back("train.replication.shards=" + std::to_string(shards));
  return model;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_training, *boost::unit_test::precondition(needs_gpu))

BOOST_AUTO_TEST_CASE(workers_that_add_gradients_up_on_cpus_do_what_one_graph_does) {
  for (const Settings& model : models) {
    Settings shards = model;
    shards.emplace_back("train.replication.shards=2");
    const TrainingOutcome one = in_one_graph("digits", shards, rounds, with_gpus(1)),
                          apart = by_workers(model, false);
    BOOST_TEST(apart.losses == one.losses, boost::test_tools::per_element());
    BOOST_TEST_REQUIRE(apart.weights.size() == one.weights.size());
    for (size_t i = 0; i < one.weights.size(); ++i) BOOST_TEST(identical(apart.weights[i], one.weights[i]));
  }
}

BOOST_AUTO_TEST_CASE(workers_that_add_gradients_up_on_gpus_differ_in_the_last_bits) {
  const auto name = Runtime(with_gpus(1)).impl().exchange_name_of_gpu();
  if (!name || (!name->starts_with("emulated/") && *count_gpus() < workers)) {
    BOOST_TEST_MESSAGE("skipped: it needs NCCL and a GPU for each worker");
    return;
  }
  for (const Settings& model : {models[0], models[1], with_shards(models[0], 5), with_shards(models[1], 4)}) {
    const TrainingOutcome host = by_workers(model, false), gpus = by_workers(model, true);
    for (size_t i = 0; i < host.losses.size(); ++i)
      BOOST_TEST(gpus.losses[i] == host.losses[i], boost::test_tools::tolerance(1e-3));
    BOOST_TEST(gpus.losses != host.losses);
    for (size_t i = 0; i < host.weights.size(); ++i) {
      if (host.weights[i].dtype() != f32) continue;
      const auto expected = host.weights[i].as<float>(), got = gpus.weights[i].as<float>();
      for (size_t e = 0; e < expected.size(); ++e)
        if (!(std::abs(got[e] - expected[e]) <= 1e-3f)) {
          BOOST_ERROR("element " << e << " of variable " << i << " is " << got[e] << " in place of "
                                 << expected[e]);
          break;
        }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::gpu_training_test

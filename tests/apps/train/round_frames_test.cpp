// The cost of a synchronous round in frames, on a simulated network: a worker exchanges at most four frames with each parameter
// server.
//
//   worker -> ps:  RunPartition, TensorsArrived (gradients);   ps -> worker:  PartitionDone (new values)
#include <boost/test/unit_test.hpp>

#include "apps/data/load.h"
#include "apps/train/graphs/replica_graph.h"
#include "apps/train/rounds/rounds.h"
#include "messages/env/real_disk.h"
#include "tests/support/project_files.h"
#include "tests/support/samples.h"
#include "tests/support/simulation/simulated_cluster.h"

namespace troupe::train::round_frames_test {
namespace {

constexpr int64_t second = 1'000'000'000;

BOOST_AUTO_TEST_CASE(a_round_takes_four_frames_per_parameter_server) {
  for (const int servers : {1, 2}) {
    std::vector<std::string> tasks = {"/job:worker/replica:0/task:0"};
    for (int i = 0; i < servers; ++i) tasks.push_back("/job:ps/replica:0/task:" + std::to_string(i));
    test::SimulatedCluster cluster(1, tasks);
    BOOST_TEST_REQUIRE(cluster.simulation().run_until([&] { return cluster.complete(); }, 60 * second));
    const auto ops = cluster.node(0).library->ops;
    RealDisk disk;
    const std::vector<std::string> set = {"cluster.in_process={ps=" + std::to_string(servers) + ",worker=1}",
                                          "train.replication.shards=1"};
    const auto config =
        value_or_throw(config::load_run_config(disk, test::project_path("examples/digits.toml"), set, ops));
    const auto data = test::all_samples(*value_or_throw(data::load(disk, config.data, 1)).train);
    Graph whole(ops), graph(ops);
    const auto model = value_or_throw(build_training_graph(config, data, whole));
    const auto replica = value_or_throw(build_replica_graph(config, data, 0, 0, graph));
    Session first = cluster.session(0, whole), session = cluster.session(0, graph);
    first.run({}, {model.initializer}, {.training = true});
    session.run({{replica.sync->rounds, Tensor::scalar<int64_t>(0)}}, {replica.sync->set_rounds});
    auto values = session.run(replica.current);

    std::vector<Output> feeds = replica.values, fetches = replica.next;
    for (const auto& [name, placeholder] : replica.inputs.columns) feeds.push_back(placeholder);
    feeds.push_back(replica.inputs.samples);
    fetches.push_back(replica.update);
    const PreparedStep step = session.prepare(feeds, fetches);
    const data::Dataset batch = data.slice(0, 32);
    constexpr uint64_t rounds = 10;
    uint64_t frames = 0;
    for (uint64_t round = 1; round <= rounds; ++round) {
      auto fed = values;
      for (auto& tensor : feeds_of_shard(replica.inputs, batch, batch)) fed.push_back(std::move(tensor));
      fed.push_back(Tensor::scalar(batch.samples()));
      const uint64_t before = cluster.network().counts().frames;
      values = step.run(fed, {.training = true, .round = round, .shard = 0});
      if (round > 1)
        frames += cluster.network().counts().frames - before;  // the first round also binds addresses
    }
    BOOST_TEST_MESSAGE(servers << " ps: " << frames << " frames in " << rounds - 1 << " rounds");
    // With several servers, the replies of the actors of a server's variables are sometimes sent in two frames.
    const int max_frames = 4 * servers + (servers - 1);
    BOOST_TEST(frames <= static_cast<uint64_t>(max_frames) * (rounds - 1));
  }
}

}  // namespace
}  // namespace troupe::train::round_frames_test

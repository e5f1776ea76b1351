// Measures a training step of examples/digits.toml (batch 64, a perceptron 64-100-10, Adam) with one and with two logical shards.
// Feeds are prepared in advance. bench/peers/steps.py compares the results with TensorFlow's for the same graph.
#include <benchmark/benchmark.h>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/data/load.h"
#include "apps/train/graphs/training_graph.h"
#include "apps/train/rounds/evaluation.h"
#include "messages/env/real_disk.h"

namespace troupe {
namespace {

std::vector<Tensor> feeds(const train::TrainingGraph& model, const data::Dataset& batch) {
  std::vector<Tensor> all;
  const auto shards = data::shards(batch, static_cast<int64_t>(model.shards.size()));
  for (size_t i = 0; i < shards.size(); ++i) {
    for (Tensor& tensor : train::feeds_of(model.shards[i], shards[i].data)) all.push_back(std::move(tensor));
    all.push_back(Tensor::scalar(static_cast<float>(shards[i].data.samples())));
  }
  return all;
}

void digits(benchmark::State& state) {
  const auto shards = state.range(0);
  const auto threads = static_cast<size_t>(state.range(1));
  RealDisk disk;
  Runtime runtime({.threads = threads, .tasks = {{"worker", 0, 1}}});
  const std::vector<std::string> set{"train.replication.shards=" + std::to_string(shards)};
  const auto config = value_or_throw(
      config::load_run_config(disk, TROUPE_SOURCE_DIR "/examples/digits.toml", set, runtime.ops()));
  const auto data = value_or_throw(data::load(disk, config.data, config.run.seed));
  Graph graph(runtime.ops());
  const auto model = value_or_throw(train::build_training_graph(config, data.train->columns(), graph));
  Session session = runtime.session(graph, {.seed = config.run.seed});
  session.run({}, {model.initializer}, {.training = true});
  std::vector<Output> inputs;
  for (const auto& shard : model.shards) {
    for (const auto& [name, placeholder] : shard.columns) inputs.push_back(placeholder);
    inputs.push_back(shard.samples);
  }
  const PreparedStep step = session.prepare(inputs, {model.loss, model.update});
  const auto fed = feeds(model, value_or_throw(data.train->batches(config.batch, 0, false)->at(0)));
  uint64_t round = 0;
  for (auto _ : state) benchmark::DoNotOptimize(step.run(fed, {.training = true, .round = ++round}));
}
BENCHMARK(digits)
    ->ArgNames({"shards", "threads"})
    ->ArgsProduct({{1, 2}, {1, 2}})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace troupe

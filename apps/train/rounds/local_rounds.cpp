#include "apps/train/rounds/local_rounds.h"

#include "apps/train/data/timed_batch.h"
#include "apps/train/graphs/local_copies.h"
#include "apps/train/rounds/evaluation.h"
#include "apps/train/rounds/hogwild_rounds.h"

namespace troupe::train {

LocalRounds::LocalRounds(Session& session, const TrainingGraph& graph, const config::Train& train,
                         data::Batches& batches)
    : graph_(graph), train_(train), batches_(batches) {
  step_ = session.prepare(training_step(graph).feeds, {graph.loss, graph.update});
  if (graph.begin) session.run({*graph.begin});
  if (graph.average) average_ = session.prepare({}, {*graph.average});
}

std::vector<double> LocalRounds::advance(uint64_t done, uint64_t) {
  const data::Dataset batch = timed_batch(batches_, done, waited_);
  std::vector<Tensor> feeds;
  auto inputs = graph_.shards.begin();
  const auto shards = static_cast<int64_t>(graph_.shards.size()) / graph_.micro_batches;
  for (const data::Shard& shard : data::shards(batch, shards))
    for (const data::Shard& part : data::shards(shard.data, graph_.micro_batches)) {
      for (auto& tensor : feeds_of_shard(*inputs++, batch, part.data)) feeds.push_back(std::move(tensor));
      feeds.push_back(Tensor::scalar(static_cast<float>(part.data.samples())));
    }
  const auto step = [&](std::vector<DeviceProfile>* profile) {
    return step_.run(feeds, {.training = true, .round = done + 1, .profile = profile});
  };
  const double loss = number((profile_ ? step(profile_) : sampler_.run(step)).at(0));
  costs_ = sampler_.take();
  if (graph_.average && averages_after(done + 1, train_, batches_.per_epoch()))
    average_.run({}, {.training = true, .round = done + 1});
  return {loss};
}

std::unique_ptr<Rounds> rounds_in_process(Session& session, const TrainingGraph& graph, DType loss,
                                          const config::RunConfig& config, data::Batches& batches) {
  if (config.train.replication.mode == config::ReplicationMode::Hogwild)
    return std::make_unique<HogwildRounds>(session, graph, loss, config, batches);
  return std::make_unique<LocalRounds>(session, graph, config.train, batches);
}

}  // namespace troupe::train

#include "apps/train/rounds/peer_replica.h"

#include "actors/runtime_impl.h"
#include "apps/train/data/timed_batch.h"
#include "apps/train/data/train_data.h"
#include "apps/train/graphs/local_copies.h"
#include "apps/train/rounds/evaluation.h"

namespace troupe::train {

PeerReplica::PeerReplica(Runtime& runtime, config::RunConfig config, int64_t worker, uint64_t training)
    : WorkerReplica(worker, runtime.services().clock()), model_graph_(runtime.ops()),
      config_(std::move(config)) {
  const auto data = value_or_throw(load_same_data(runtime.services().disk(), config_));
  batches_ = data.train->batches(config_.batch, config_.run.seed, config_.shuffle);
  const auto build = config_.train.replication.mode == config::ReplicationMode::LocalSgd
                         ? build_local_sgd_graph
                         : build_allreduce_graph;
  graph_ = value_or_throw(
      build(config_, data.train->columns(), worker, "training " + std::to_string(training), model_graph_));
  // The client saves what is shared: all variables that a worker owns. Otherwise they are copies of those of worker 0.
  session_ =
      runtime.impl().session(model_graph_,
                             {.seed = config_.run.seed,
                              .check_finite = config_.train.check_finite,
                              .start_timeout = config_.train.fault.start_timeout,
                              .tasks = {"/job:worker/task:" + std::to_string(worker)},
                              .share_state = worker == 0 || config_.train.replication.shares_out_variables()},
                             nullptr);
  std::vector<Output> feeds = graph_.values, fetches{graph_.loss};
  fetches.insert(fetches.end(), graph_.next.begin(), graph_.next.end());
  for (const TowerInputs& shard : graph_.inputs) {
    for (const auto& [name, placeholder] : shard.columns) feeds.push_back(placeholder);
    feeds.push_back(shard.samples);
  }
  fetches.push_back(graph_.update);
  step_ = session_->prepare(feeds, fetches);
  if (graph_.average) average_ = session_->prepare({}, {*graph_.average});
}

void PeerReplica::begin(uint64_t round) {
  std::vector<Output> fetches = graph_.current;
  if (graph_.begin) fetches.push_back(*graph_.begin);
  if (!fetches.empty()) values_ = session_->run(fetches);
  next_ = round + 1;
}

void PeerReplica::assign(const std::vector<int64_t>& shards, uint64_t /*number*/) {
  if (shards != graph_.shards)
    throw Error(failed_precondition(
        "the shards of a worker cannot change in the modes \"allreduce\" and \"local_sgd\""));
}

ShardLoss PeerReplica::run(uint64_t round) {
  if (round != next_)
    throw Error(invalid_argument("round " + std::to_string(round) + " is requested, but the next one is " +
                                 std::to_string(next_)));
  ++next_;
  failed_ = true;
  const data::Dataset batch = timed_batch(*batches_, round - 1, waited_);
  const auto shards = data::shards(batch, config_.shards());
  int64_t samples = 0;
  std::vector<Tensor> feeds = std::exchange(values_, {});
  for (size_t i = 0; i < graph_.shards.size(); ++i) {
    const data::Dataset& shard = shards[static_cast<size_t>(graph_.shards[i])].data;
    for (auto& tensor : feeds_of_shard(graph_.inputs[i], batch, shard)) feeds.push_back(std::move(tensor));
    feeds.push_back(Tensor::scalar(shard.samples()));
    samples += shard.samples();
  }
  const Waiting waiting(steps_);
  values_ = sampler_.run([&](std::vector<DeviceProfile>* profile) {
    return step_.run(feeds, {.training = true, .round = round, .profile = profile});
  });
  const double loss = number(values_.front());
  values_.erase(values_.begin());
  if (is_local() && averages_after(round, config_.train, batches_->per_epoch()))
    average_.run({}, {.training = true, .round = round});
  failed_ = false;
  return {loss, is_local() ? samples : batch.samples()};
}

}  // namespace troupe::train

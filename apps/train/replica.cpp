#include "apps/train/replica.h"

#include "apps/train/evaluation.h"
#include "apps/train/timed_batch.h"
#include "apps/train/train_data.h"

namespace troupe::train {
namespace {

/// Returns the tasks that own variables, which the session of a worker needs besides its own task.
std::vector<std::string> tasks_of(const config::RunConfig& config) {
  return config.cluster.tasks.contains("ps") ? std::vector<std::string>{"/job:ps"}
                                             : std::vector<std::string>{"/job:worker/task:0"};
}

}  // namespace

Replica::Replica(Runtime& runtime, config::RunConfig config, int64_t worker)
    : model_graph_(runtime.ops()), config_(std::move(config)) {
  const auto data = value_or_throw(load_data(runtime.services().disk(), config_));
  if (data.train->samples() == 0) throw Error(data_loss("the training data has no samples"));
  batches_ = data.train->batches(config_.batch, config_.run.seed, config_.shuffle);
  graph_ = value_or_throw(build_replica_graph(config_, data.train->columns(), worker, model_graph_));
  session_ = runtime.session(model_graph_, {.seed = config_.run.seed,
                                            .start_timeout = config_.train.fault.start_timeout,
                                            .tasks = tasks_of(config_),
                                            .share_state = true});
  prepare();
}

void Replica::prepare() {
  std::vector<Output> feeds = graph_.values, fetches = graph_.losses;
  for (const TowerInputs& shard : graph_.inputs) {
    for (const auto& [name, placeholder] : shard.columns) feeds.push_back(placeholder);
    feeds.push_back(shard.samples);
  }
  fetches.insert(fetches.end(), graph_.next.begin(), graph_.next.end());
  fetches.push_back(graph_.update);
  step_ = session_->prepare(feeds, fetches);
}

void Replica::begin(uint64_t round) {
  if (graph_.set_rounds)
    session_->run({{graph_.rounds, Tensor::scalar(static_cast<int64_t>(round))}}, {*graph_.set_rounds});
  values_ = session_->run(graph_.current);
  next_ = round + 1;
}

std::vector<ShardLoss> Replica::run(uint64_t round) {
  if (round != next_)
    throw Error(invalid_argument("round " + std::to_string(round) + " is requested, but the next one is " +
                                 std::to_string(next_)));
  ++next_;
  const data::Dataset batch = timed_batch(*batches_, round - 1, waited_);
  const auto shards = data::shards(batch, config_.shards());
  std::vector<ShardLoss> result;
  std::vector<Tensor> feeds = std::move(values_);
  for (size_t i = 0; i < graph_.shards.size(); ++i) {
    const data::Dataset& shard = shards[static_cast<size_t>(graph_.shards[i])].data;
    for (auto& tensor : feeds_of_shard(graph_.inputs[i], batch, shard)) feeds.push_back(std::move(tensor));
    feeds.push_back(Tensor::scalar(shard.samples()));
    result.push_back({0, shard.samples()});
  }
  auto fetched = step_.run(feeds, {.training = true, .round = round});
  for (size_t i = 0; i < result.size(); ++i) result[i].loss = number(fetched[i]);
  values_.assign(std::make_move_iterator(fetched.begin() + static_cast<std::ptrdiff_t>(result.size())),
                 std::make_move_iterator(fetched.end()));
  return result;
}

}  // namespace troupe::train

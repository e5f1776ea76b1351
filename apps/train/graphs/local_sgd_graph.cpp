#include "apps/nn/allreduce_means.h"
#include "apps/train/graphs/local_copies.h"
#include "apps/train/graphs/peer_graph.h"
#include "apps/train/graphs/peers.h"

namespace troupe::train {
namespace {

class LocalSgdBuilder {
 public:
  LocalSgdBuilder(const config::RunConfig& config, const data::Dataset& data, int64_t worker,
                  const std::string& group, Graph& graph)
      : config_(config), peers_(config, worker, group), builder_(config, data, graph),
        here_(builder_.on_worker(builder_.root(), worker)) {}

  Result<PeerGraph> build() {
    builder_.scale_losses(false);
    for (const int64_t shard : peers_.shards()) add_tower(shard);
    TROUPE_RETURN_IF_FAILED(builder_.status());
    add_update();
    add_average();
    return std::move(result_);
  }

 private:
  void add_tower(int64_t shard) {
    const Scope scope = builder_.at_shard(shard);
    copies_.emplace_back(builder_, shard);
    result_.shards.push_back(shard);
    result_.inputs.push_back(builder_.inputs(scope, DType::Int64));
    towers_.push_back(builder_.tower(scope, result_.inputs.back(), nn::Mode::Training,
                                     [&](Output variable) { return copies_.back().of(variable); }));
  }

  void add_update() {
    std::vector<Output> updates, losses, samples;
    for (size_t i = 0; i < towers_.size(); ++i) {
      updates.push_back(copies_[i].add_update(config_.train, towers_[i]));
      losses.push_back(*towers_[i].model.loss);
      samples.push_back(result_.inputs[i].samples);
    }
    result_.loss = weighted_mean(here_, losses, samples);
    result_.update = here_.group(updates);
  }

  /// Every worker gets the means of the copies of all shards and updates the variables that it owns. With an outer optimizer it
  /// sends their new values to the others.
  void add_average() {
    const Scope scope = here_.with_prefix("average");
    nn::AllReduceMeans all_means(peers_.tasks_of_shards(), peers_.group(), peers_.gpus());
    const auto means = all_means.of(scope, copies_of_shards(scope));
    std::vector<Output> targets = all_means.nodes(), owned;
    std::map<NodeId, Output> values;  // of the variables after the averaging
    nn::ReplicationStrategy strategy;
    const auto& averaged = copies_.front().averaged();
    for (size_t i = 0; i < averaged.size(); ++i) {
      const Output variable = averaged[i].first, mean = std::get<Output>(means[i]);
      if (peers_.is_mine(here_, variable)) {
        owned.push_back(variable);
        targets.push_back(update_from_mean(config_.train.replication, here_, variable, mean, strategy));
      }
      values[variable.node] = config_.train.replication.outer ? sent(scope, variable, strategy) : mean;
    }
    if (const auto averages = weight_averages(owned)) targets.push_back(averages->update(here_, strategy));
    for (const LocalCopies& shard : copies_)
      for (const Output& assigned : shard.assign([&](Output variable) { return values.at(variable.node); }))
        targets.push_back(assigned);
    result_.average = here_.group(targets);
  }

  std::vector<nn::AllReduceMeans::Shard> copies_of_shards(const Scope& scope) const {
    const Output one = scope.constant(Tensor::scalar<int64_t>(1));
    std::vector<nn::AllReduceMeans::Shard> shards;
    for (const LocalCopies& shard : copies_) {
      shards.push_back({shard.shard(), one, {}});
      for (const auto& [variable, copy] : shard.averaged())
        shards.back().gradients.emplace_back(scope.add_one("Identity", {copy}));
    }
    return shards;
  }

  /// Returns the value of a variable that its owner has updated.
  Output sent(const Scope& scope, Output variable, nn::ReplicationStrategy& strategy) const {
    const std::string key = "average/" + scope.graph().node(variable.node).name;
    const Output value =
        peers_.is_mine(here_, variable)
            ? scope.with_control(strategy.updates_of(variable)).add_one("Identity", {variable})
            : variable;
    return peers_.broadcast(scope, key, value, Peers::owner_of(here_, variable));
  }

  /// Returns the moving averages of the variables that this worker owns.
  std::optional<nn::WeightAverages> weight_averages(std::vector<Output> owned) const {
    const auto trainable = trainable_variables(builder_.root().graph());
    std::erase_if(owned, [&](Output variable) { return std::ranges::count(trainable, variable) == 0; });
    if (!config_.train.average || owned.empty()) return {};
    return nn::WeightAverages(builder_.root(), *config_.train.average, owned);
  }

  const config::RunConfig& config_;
  const Peers peers_;
  ModelBuilder builder_;
  const Scope here_;
  std::vector<Tower> towers_;        ///< of each shard of this worker
  std::vector<LocalCopies> copies_;  ///< of these shards
  PeerGraph result_;
};

}  // namespace

Result<PeerGraph> build_local_sgd_graph(const config::RunConfig& config, const data::Dataset& data,
                                        int64_t worker, const std::string& group, Graph& graph) try {
  return LocalSgdBuilder(config, data, worker, group, graph).build();
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train

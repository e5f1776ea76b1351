#include "apps/nn/allreduce_means.h"
#include "apps/train/model_builder.h"
#include "apps/train/optimizer_builder.h"
#include "apps/train/peer_graph.h"
#include "apps/train/peers.h"

namespace troupe::train {
namespace {

class Builder {
 public:
  Builder(const config::RunConfig& config, const data::Dataset& data, int64_t worker,
          const std::string& group, Graph& graph)
      : config_(config), peers_(config, worker, group), builder_(config, data, graph, worker) {}

  Result<PeerGraph> build() {
    for (const int64_t shard : peers_.shards()) add_tower(shard);
    TROUPE_RETURN_IF_FAILED(builder_.status());
    const auto averages = builder_.weight_averages();
    const auto optimizer =
        make_optimizer(config_.train, rate_factor(config_.train, builder_.with_variables()));
    if (!optimizer->allows_replicas())
      return invalid_argument(
          "train.optimizer.type is '" + config_.train.optimizer.type +
          "', which needs all variables and gradients in one place; it cannot train replicas");
    add_update(*optimizer, averages);
    add_begin();
    return std::move(result_);
  }

 private:
  Scope here() const { return builder_.on_worker(builder_.root(), peers_.worker()); }

  void add_tower(int64_t shard) {
    const Scope scope = builder_.at_shard(shard);
    result_.shards.push_back(shard);
    result_.inputs.push_back(builder_.inputs(scope, DType::Int64));
    towers_.push_back(builder_.tower(scope, result_.inputs.back(), nn::Mode::Training));
  }

  /// Returns the gradients of a shard and behind them the differences of its moving averages and its loss. Sets the variables of
  /// the gradients.
  nn::AllReduceMeans::Shard contribution(size_t i, const nn::Optimizer& optimizer,
                                         std::vector<Output>& variables) const {
    nn::AllReduceMeans::Shard shard{result_.shards[i], result_.inputs[i].samples, {}};
    variables.clear();
    for (const auto& [gradient, variable] :
         builder_.gradients(builder_.at_shard(shard.index), *towers_[i].model.loss, optimizer)) {
      shard.gradients.push_back(gradient);
      variables.push_back(variable);
    }
    for (const AverageUpdate& average : towers_[i].averages) shard.gradients.emplace_back(average.difference);
    shard.gradients.emplace_back(*towers_[i].model.loss);
    return shard;
  }

  void add_update(const nn::Optimizer& optimizer, const std::optional<nn::WeightAverages>& weight_averages) {
    std::vector<Output> variables;
    std::vector<nn::AllReduceMeans::Shard> shards;
    for (size_t i = 0; i < towers_.size(); ++i) shards.push_back(contribution(i, optimizer, variables));
    nn::AllReduceMeans all_means(peers_.tasks_of_shards(), peers_.group());
    const auto means = all_means.of(here(), shards);

    const Scope& root = builder_.root();
    nn::ReplicationStrategy strategy;
    result_.loss = std::get<Output>(means.back());
    strategy.read_first(root, {result_.loss});
    std::vector<nn::VariableGradient> gradients;
    for (size_t i = 0; i < variables.size(); ++i) gradients.push_back({means[i], variables[i]});
    std::vector<Output> updates = all_means.nodes();
    updates.push_back(optimizer.apply_gradients(root, gradients, strategy));
    if (weight_averages) updates.push_back(weight_averages->update(root, strategy));
    std::vector<AverageUpdate> averages = towers_.front().averages;
    for (size_t i = 0; i < averages.size(); ++i)
      averages[i].difference = std::get<Output>(means[variables.size() + i]);
    if (!averages.empty()) updates.push_back(update_averages(root, averages, strategy));
    result_.update = root.group(updates);
  }

  /// Worker 0 sends all of its variables, and the others assign them.
  void add_begin() {
    const Scope scope = here().with_prefix("begin");
    std::vector<Output> targets;
    for (const Output& variable : variables(scope.graph())) {
      const std::string& name = scope.graph().node(variable.node).name;
      const Output value = peers_.broadcast(scope, "begin/" + name, variable, 0);
      targets.push_back(peers_.worker() == 0 ? value : scope.add_one("Assign", {variable, value}));
    }
    result_.begin = scope.group(targets);
  }

  const config::RunConfig& config_;
  const Peers peers_;
  ModelBuilder builder_;
  std::vector<Tower> towers_;  ///< of each shard of this worker
  PeerGraph result_;
};

}  // namespace

Result<PeerGraph> build_allreduce_graph(const config::RunConfig& config, const data::Dataset& data,
                                        int64_t worker, const std::string& group, Graph& graph) try {
  return Builder(config, data, worker, group, graph).build();
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train

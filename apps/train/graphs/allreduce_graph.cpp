#include <algorithm>
#include <functional>

#include "apps/nn/allreduce_means.h"
#include "apps/nn/owned_variables.h"
#include "apps/train/graphs/model_builder.h"
#include "apps/train/graphs/optimizer_builder.h"
#include "apps/train/graphs/peer_graph.h"
#include "apps/train/graphs/peers.h"

namespace troupe::train {
namespace {

class AllReduceBuilder {
 public:
  AllReduceBuilder(const config::RunConfig& config, const data::Dataset& data, int64_t worker,
                   const std::string& group, Graph& graph)
      : config_(config), peers_(config, worker, group), builder_(config, data, graph, worker),
        here_(builder_.on_worker(builder_.root(), worker)), values_(here_),
        compression_(make_compression(config.train.replication)) {
    if (config.train.replication.shard_optimizer)
      owned_.emplace([this](Output variable) { return peers_.is_mine(here_, variable); }, values_);
  }

  Result<PeerGraph> build() {
    builder_.scale_losses(!owned_);
    for (const int64_t shard : peers_.shards()) add_tower(shard);
    TROUPE_RETURN_IF_FAILED(builder_.status());
    const auto averages = builder_.weight_averages();
    const auto optimizer = make_replica_optimizer(
        config_.train, rate_factor(config_.train, builder_.with_variables()), builder_.update_factors());
    add_update(*optimizer, averages);
    add_begin();
    return std::move(result_);
  }

 private:
  nn::ReplicationStrategy& strategy() {
    if (owned_) return *owned_;
    return together_;
  }

  void add_tower(int64_t shard) {
    const Scope scope = builder_.at_shard(shard);
    result_.shards.push_back(shard);
    result_.inputs.push_back(builder_.inputs(scope, DType::Int64));
    towers_.push_back(builder_.tower(scope, result_.inputs.back(), nn::Mode::Training,
                                     [&](Output variable) { return strategy().value(variable); }));
  }

  /// Returns the gradients of a shard.
  std::vector<nn::VariableGradient> gradients(size_t i, const nn::Optimizer& optimizer) {
    const std::vector<Output> variables = trainable_variables(here_.graph());
    std::vector<Output> used;
    for (const Output& variable : variables) used.push_back(strategy().value(variable));
    auto result =
        builder_.gradients(builder_.at_shard(result_.shards[i]), *towers_[i].model.loss, optimizer, used);
    for (nn::VariableGradient& gradient : result)
      gradient.variable =
          variables[static_cast<size_t>(std::ranges::find(used, gradient.variable) - used.begin())];
    return result;
  }

  /// Returns the gradients of a shard and behind them the differences of its moving averages and its loss. Sets the variables of
  /// the gradients.
  nn::AllReduceMeans::Shard contribution(size_t i, const nn::Optimizer& optimizer,
                                         std::vector<Output>& variables) {
    nn::AllReduceMeans::Shard shard{result_.shards[i], result_.inputs[i].samples, {}};
    variables.clear();
    const Scope scope = builder_.at_shard(shard.index);
    for (const nn::VariableGradient& gradient : gradients(i, optimizer)) {
      shard.gradients.push_back(compression_ ? compression_->compressed(scope, gradient) : gradient.gradient);
      variables.push_back(gradient.variable);
    }
    for (const AverageUpdate& average : towers_[i].averages) shard.gradients.emplace_back(average.difference);
    shard.gradients.emplace_back(*towers_[i].model.loss);
    return shard;
  }

  /// Returns the first shard of the worker that needs each mean of a contribution, or -1 if all need it.
  std::vector<int64_t> roots(const std::vector<Output>& variables) const {
    if (!owned_) return {};
    std::vector<int64_t> roots;
    for (const Output& variable : variables) roots.push_back(Peers::owner_of(here_, variable));
    for (const AverageUpdate& average : towers_.front().averages)
      roots.push_back(Peers::owner_of(here_, average.variable));
    roots.push_back(-1);
    return roots;
  }

  void add_update(const nn::Optimizer& optimizer, const std::optional<nn::WeightAverages>& weight_averages) {
    std::vector<Output> variables;
    std::vector<nn::AllReduceMeans::Shard> shards;
    for (size_t i = 0; i < towers_.size(); ++i) shards.push_back(contribution(i, optimizer, variables));
    nn::AllReduceMeans all_means(peers_.tasks_of_shards(), peers_.group(), peers_.gpus());
    const auto means = all_means.of(here_, shards, roots(variables));

    const Scope& root = builder_.root();
    result_.loss = std::get<Output>(means.back());
    // The means are outputs of the first shard's nodes, but all shards must have read the variables.
    std::vector<Output> reads = all_means.nodes();
    reads.push_back(result_.loss);
    strategy().read_first(root, reads);
    std::vector<nn::VariableGradient> gradients;
    for (size_t i = 0; i < variables.size(); ++i)
      gradients.push_back(
          {compression_ ? compression_->restored(here_, means[i], variables[i]) : means[i], variables[i]});
    std::vector<Output> updates = all_means.nodes();
    if (auto scaling = builder_.dynamic_scale()) {
      gradients = scaling->where_finite(here_, std::move(gradients));
      updates.push_back(scaling->update(root, strategy()));
    }
    if (compression_)
      updates.insert(updates.end(), compression_->updates().begin(), compression_->updates().end());
    updates.push_back(optimizer.apply_gradients(root, gradients, strategy()));
    if (weight_averages) updates.push_back(weight_averages->update(root, strategy()));
    std::vector<AverageUpdate> averages = towers_.front().averages;
    for (size_t i = 0; i < averages.size(); ++i)
      averages[i].difference = std::get<Output>(means[variables.size() + i]);
    if (!averages.empty()) updates.push_back(update_averages(root, averages, strategy()));
    if (owned_)
      result_.next = exchange(
          "next", [this](Output variable) { return owned_->updates_of(variable); }, updates);
    result_.update = root.group(updates);
  }

  /// Worker 0 sends all of its variables, and the others assign them. If the workers share the variables out, each sends its own.
  void add_begin() {
    std::vector<Output> targets;
    if (owned_) {
      for (const auto& [variable, placeholder] : values_.all()) result_.values.push_back(placeholder);
      result_.current = exchange(
          "begin", [](Output) { return std::vector<Output>{}; }, targets);
    } else {
      const Scope scope = here_.with_prefix("begin");
      for (const Output& variable : variables(scope.graph())) {
        const std::string& name = scope.graph().node(variable.node).name;
        const Output value = peers_.broadcast(scope, "begin/" + name, variable, 0);
        targets.push_back(peers_.worker() == 0 ? value : scope.add_one("Assign", {variable, value}));
      }
    }
    if (compression_) targets.push_back(local_initializer(here_));
    result_.begin = here_.group(targets);
  }

  /// Adds the exchange of the values that all variables in use have after the nodes `before(variable)`. Adds this worker's
  /// broadcasts to `targets` and returns what it gets, in the order of values_.
  std::vector<Output> exchange(const std::string& key,
                               const std::function<std::vector<Output>(Output variable)>& before,
                               std::vector<Output>& targets) {
    const Scope scope = here_.with_prefix(key);
    std::vector<Output> received;
    for (const Output& variable : owned_->used()) {
      const bool mine = peers_.is_mine(here_, variable);
      const Output value =
          mine ? scope.with_control(before(variable)).add_one("Identity", {variable}) : variable;
      const Output sent = peers_.broadcast(scope, key + '/' + scope.graph().node(variable.node).name, value,
                                           Peers::owner_of(here_, variable));
      (mine ? targets : received).push_back(sent);
    }
    return received;
  }

  const config::RunConfig& config_;
  const Peers peers_;
  ModelBuilder builder_;
  const Scope here_;
  std::vector<Tower> towers_;  ///< of each shard of this worker
  nn::ReplicationStrategy together_;
  nn::LocalValues values_;
  std::optional<nn::OwnedVariables> owned_;  ///< with shard_optimizer, in place of together_
  std::optional<nn::GradientCompression> compression_;
  PeerGraph result_;
};

}  // namespace

Result<PeerGraph> build_allreduce_graph(const config::RunConfig& config, const data::Dataset& data,
                                        int64_t worker, const std::string& group, Graph& graph) try {
  return AllReduceBuilder(config, data, worker, group, graph).build();
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train

#include "apps/train/allreduce_graph.h"

#include "apps/nn/allreduce_means.h"
#include "apps/train/model_builder.h"
#include "apps/train/optimizer_builder.h"

namespace troupe::train {
namespace {

std::string task_of(int64_t worker) { return "/job:worker/task:" + std::to_string(worker); }

class Builder {
 public:
  Builder(const config::RunConfig& config, const data::Dataset& data, int64_t worker,
          const std::string& group, Graph& graph)
      : config_(config), worker_(worker), group_(group), builder_(config, data, graph, worker) {}

  Result<AllreduceGraph> build() {
    for (int64_t shard = worker_; shard < builder_.shards(); shard += workers()) add_tower(shard);
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
  int64_t workers() const { return std::max<int64_t>(1, builder_.tasks("worker")); }
  Scope here() const { return builder_.on_worker(builder_.root(), worker_); }

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
    std::vector<std::string> members;
    for (int64_t shard = 0; shard < builder_.shards(); ++shard) members.push_back(task_of(shard % workers()));
    nn::AllReduceMeans all_means(std::move(members), group_);
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
    std::vector<std::string> members;
    for (int64_t worker = 0; worker < std::min(workers(), builder_.shards()); ++worker)
      members.push_back(task_of(worker));
    std::vector<Output> targets;
    for (const Output& variable : variables(scope.graph())) {
      const std::string name = scope.graph().node(variable.node).name;
      Attributes attrs{{"members", members}, {"rank", worker_}, {"group", group_}, {"key", "begin/" + name}};
      if (worker_ == 0) {
        targets.push_back(scope.add_one("BroadcastSend", {variable}, std::move(attrs)));
        continue;
      }
      attrs.set("T", scope.dtype(variable));
      attrs.set("shape", scope.shape(variable));
      targets.push_back(
          scope.add_one("Assign", {variable, scope.add_one("BroadcastReceive", {}, std::move(attrs))}));
    }
    result_.begin = scope.group(targets);
  }

  const config::RunConfig& config_;
  const int64_t worker_;
  const std::string group_;
  ModelBuilder builder_;
  std::vector<Tower> towers_;  ///< of each shard of this worker
  AllreduceGraph result_;
};

}  // namespace

Result<AllreduceGraph> build_allreduce_graph(const config::RunConfig& config, const data::Dataset& data,
                                             int64_t worker, const std::string& group, Graph& graph) try {
  return Builder(config, data, worker, group, graph).build();
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::train

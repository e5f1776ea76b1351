// ModelBuilder: builds the model of a run file in a graph, once per tower, with variables that all towers share. It determines the
// devices of towers and variables, the initial values, and the gradients. The graph of a whole run and that of one worker use it.
// Its functions throw Error; mistakes of the run file are collected and returned by status(). One per graph; one thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apps/config/model.h"
#include "apps/data/dataset.h"
#include "apps/nn/loss_scaling.h"
#include "apps/nn/optimizer.h"
#include "apps/nn/weight_averages.h"
#include "apps/train/graphs/pipeline.h"
#include "apps/train/graphs/training_graph.h"

namespace troupe::train {

/// A moving average that a training step updates: it subtracts rate * difference from the variable.
struct AverageUpdate {
  Output variable, difference;
  double rate = 0;
};

/// A model as one tower has it.
struct Tower {
  config::BuiltModel model;
  std::vector<AverageUpdate> averages;  ///< in the same order in every tower
};

class ModelBuilder {
 public:
  /// If there are no parameter servers, the variables are on the worker `variables_worker`.
  ModelBuilder(const config::RunConfig& config, const data::Dataset& data, Graph& graph,
               int64_t variables_worker = 0);

  const Scope& root() const { return root_; }
  /// Returns the mistakes found in the model so far.
  Status status() const { return diagnostics_.status(); }
  int64_t shards() const { return config_.shards(); }
  int64_t tasks(const std::string& job) const;
  /// Returns the scope of a logical shard, on the device of its worker.
  Scope at_shard(int64_t shard) const;
  /// Returns the scope on the device of a shard's worker. Shards are assigned to the workers in turn.
  Scope on_worker(const Scope& scope, int64_t shard) const;

  /// Adds placeholders for the columns of the data, two for a ragged one, and, if `samples` is set, one of that dtype for the
  /// number of samples.
  TowerInputs inputs(const Scope& scope, std::optional<DType> samples = {}) const;
  /// Builds a tower: the model with these inputs. `use` returns the edge that stands for a variable in it.
  /// `stages`, if given, builds the stages of the model.
  Tower tower(const Scope& scope, const TowerInputs& inputs, nn::Mode mode,
              const std::function<Output(Output variable)>& use, PlacedStages* stages = nullptr);
  Tower tower(const Scope& scope, const TowerInputs& inputs, nn::Mode mode) {
    return tower(scope, inputs, mode, [](Output variable) { return variable; });
  }
  /// Returns what says the factors of the update of a variable, or of the edge that stands for it in a tower, while this object
  /// lives.
  nn::FactorsOf update_factors() const {
    return [this](Output variable) { return factors_of(variable); };
  }
  /// Adds the moving averages of the weights, if the run file asks for them. The towers must have been built.
  std::optional<nn::WeightAverages> weight_averages() const;
  /// Returns whether towers read a variable where it is, instead of getting its whole value in each step: a part of a table.
  bool is_read_in_place(Output variable) const {
    return row_slice_of(root_.graph().node(variable.node)).has_value();
  }
  /// Returns the weights so far that begin with their values in model.init_from.
  const std::vector<FedWeight>& fed_weights() const { return fed_weights_; }
  /// Returns the scope for the next small variable: on the task that owns the fewest bytes. config.cluster.owners own the
  /// variables, otherwise the workers with shards if they share the variables out, otherwise the parameter servers, or one worker
  /// if there are none.
  Scope with_variables() const;
  /// Scales losses as the run file says, if it does so, before the first gradients are computed. Throws InvalidArgument if the
  /// scale is dynamic and `has_all_gradients`, whether one graph has the gradients of all shards, is false.
  void scale_losses(bool has_all_gradients);
  /// Returns what the gradients of a loss are computed of.
  Output scaled_loss(const Scope& scope, Output loss) const;
  /// Returns the dynamic scale of losses, if there is one.
  std::optional<nn::LossScaling> dynamic_scale() const;
  /// Returns the gradients of the loss of a tower as its shard contributes them to an update: clipped, with weight decay, and as
  /// rows only where `optimizer` takes rows and they are not combined otherwise than by their mean. If `variables` is empty, all
  /// trainable variables are used.
  std::vector<nn::VariableGradient> gradients(const Scope& scope, Output loss, const nn::Optimizer& optimizer,
                                              std::vector<Output> variables = {}) const;
  /// Does so for the gradients of a scaled loss. What concerns one of them is computed in its scope `at`; empty: in `scope`.
  std::vector<nn::VariableGradient> contributed(const Scope& scope,
                                                std::vector<nn::VariableGradient> gradients,
                                                const nn::Optimizer& optimizer,
                                                const nn::ScopeOfGradient& at = {}) const;

 private:
  struct Place {
    Scope task;
    int64_t bytes = 0;  ///< of the variables so far
  };

  size_t lightest_place() const;
  Scope scope_for(int64_t bytes);
  Scope for_variables(const Scope& task) const;
  nn::Weight with_stored_value(nn::Weight weight);
  Output variable(const nn::Weight& weight);
  Output with_factors(const nn::Weight& weight, Output edge);
  nn::UpdateFactors factors_of(Output variable) const;
  std::vector<nn::VariableGradient> decayed(const Scope& scope,
                                            std::vector<nn::VariableGradient> gradients) const;
  Output split_weight(const nn::Weight& weight, int64_t dimension, const Scope& tower,
                      const std::function<Output(Output variable)>& use, PlacedStages& stages);
  std::vector<Output> parts_of(const nn::Weight& weight, int64_t dimension, PlacedStages& stages);
  int64_t parts_of_table(const Shape& shape, DType dtype) const;

  const config::RunConfig& config_;
  const data::Dataset& data_;
  Scope root_;
  std::vector<Place> places_;  ///< all that may own variables; a task may occur more than once
  config::Diagnostics diagnostics_;
  std::map<std::string, Output> variables_;
  std::map<Output, nn::UpdateFactors> factors_;  ///< where there are any
  std::vector<FedWeight> fed_weights_;
  std::optional<nn::LossScaling> scaling_;
  std::map<std::string, std::vector<Output>> split_variables_;  ///< by the names of the whole variables
};

/// Returns a number in the dtype of `like`.
Output as_type(const Scope& scope, Output number, Output like);
/// Returns the mean of the values of the shards weighted by their samples, summed in shard order. For one shard it returns its
/// value.
Output weighted_mean(const Scope& scope, const std::vector<Output>& values,
                     const std::vector<Output>& samples);
/// Does the same for gradients, of which all are dense or all are rows. The mean of rows has each index once, except for one shard.
Gradient weighted_mean(const Scope& scope, const std::vector<Gradient>& gradients,
                       const std::vector<Output>& samples);
/// Returns a target that updates moving averages.
Output update_averages(const Scope& scope, const std::vector<AverageUpdate>& averages,
                       nn::ReplicationStrategy& strategy);

}  // namespace troupe::train

// LocalCopies: the copies of the variables that one logical shard trains alone in local SGD (Zinkevich et al. 2010; Stich 2018),
// and their averaging. Between two averagings each shard updates its copies with its own gradients and its own optimizer. An
// averaging sets the variables to the means of the copies or, with an outer optimizer (DiLoCo, Douillard et al. 2023), updates
// them with the differences to these means as gradients; then every copy gets the value of its variable. Copies and the state of
// the optimizers are variables, too, named by shard, so that checkpoints contain them. Plain values that a builder of a graph
// owns; one thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "apps/train/graphs/model_builder.h"

namespace troupe::train {

class LocalCopies {
 public:
  /// `builder` must outlive this object.
  LocalCopies(const ModelBuilder& builder, int64_t shard) : builder_(builder), shard_(shard) {}

  int64_t shard() const { return shard_; }
  /// Returns the copy of a variable, which the first call adds.
  Output of(Output variable);
  /// Returns the variables that are averaged, which are those of floating types, with their copies.
  const std::vector<std::pair<Output, Output>>& averaged() const { return averaged_; }
  /// Adds an update of the copies with the gradients of the tower that uses them. Returns the target.
  Output add_update(const config::Train& train, const Tower& tower);
  /// With train.plateau, returns the factor of this shard's learning rate, which add_update() has added.
  std::optional<Output> rate_factor() const { return rate_factor_; }
  /// Adds the assignment of `value(variable)` to each copy that is averaged. Returns the targets.
  std::vector<Output> assign(const std::function<Output(Output variable)>& value) const;

 private:
  const ModelBuilder& builder_;
  int64_t shard_;
  std::map<NodeId, Output> copies_;  ///< by the nodes of the variables
  std::vector<std::pair<Output, Output>> averaged_;
  std::optional<Output> rate_factor_;
};

/// Adds the update of a variable by an averaging, in which `mean` is the mean of its copies. Returns the target.
Output update_from_mean(const config::Replication& replication, const Scope& root, Output variable,
                        Output mean, nn::ReplicationStrategy& strategy);

/// Returns whether an averaging follows the round: the last one of average_every rounds, of an epoch, or of the run.
bool averages_after(uint64_t round, const config::Train& train, int64_t rounds_per_epoch);

}  // namespace troupe::train

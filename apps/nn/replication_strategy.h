// ReplicationStrategy adds the update rules of an optimizer to a graph. Without replication each rule is an op that updates its
// variables when the step reaches it. In synchronous between-graph replication (SyncReplicas) each worker pushes its gradients to
// the task that owns the variables, which applies the rule once with the gradients of all workers (white paper, section 7; OSDI
// 2016, section 4.4). The strategies use only the public builder and throw Error as it does. Public header; one thread at a time
// per graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/nn/gradient_combination.h"
#include "apps/nn/gradients.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// One op that updates variables, such as "ApplyAdam" or "Assign".
struct Rule {
  std::string op;
  std::vector<Output> variables;  ///< its first inputs, references; the first is the variable to update
  std::vector<Output> values;     ///< its other inputs, in order
  std::string gradient;           ///< the name of the input that is the gradient of the loss; empty: none
  /// The name of the input that numbers the rows of the gradient. Empty: the gradient is dense.
  std::string indices = {};
  std::vector<std::string> options = {};  ///< the names of its bool attributes that are true
  std::vector<Output> after = {};  ///< targets of other rules of these variables, which are applied before
  /// Whether `gradient` names something else than a gradient of the loss, whose mean is wanted however gradients are combined.
  bool is_averaged = false;
};

/// The strategy without replication: a rule is applied when the step reaches its node.
class ReplicationStrategy {
 public:
  virtual ~ReplicationStrategy() = default;
  /// Returns the value of a variable as an input of a rule.
  virtual Output value(Output variable) { return variable; }
  /// Returns the rows of a gradient as inputs of a rule that needs each index once.
  virtual IndexedSlices distinct_rows(const Scope& scope, const IndexedSlices& rows) {
    return nn::distinct_rows(scope, rows);
  }
  /// Adds the nodes of a rule in `scope`. Returns a target that applies it.
  Output apply(const Scope& scope, const Rule& rule);
  /// Makes the rules that are added afterwards wait until `results`, and everything that they depend on, have read the variables
  /// that the rules change. Otherwise a step might compute them from values that it has just changed. Throws InvalidArgument if
  /// one of them is of another graph.
  void read_first(const Scope& scope, const std::vector<Output>& results);
  /// Returns a scope for a rule that changes a variable whose old value the rules `applied` must read before.
  virtual Scope after(const Scope& scope, const std::vector<Output>& applied) const {
    return scope.with_control(applied);
  }
  /// Returns the nodes that update the variable. A node that reads its new value must run after them.
  const std::vector<Output>& updates_of(Output variable) { return applied_[variable.node]; }

 protected:
  virtual Output add(const Scope& scope, const Rule& rule);

 private:
  std::map<NodeId, std::vector<Output>> applied_;
  /// By the nodes of variables: the nodes for which a rule that changes the variable waits.
  std::map<NodeId, std::set<Output>> readers_;
};

/// The local values of variables that other tasks own: placeholders on the worker's device. Each step feeds them with the values
/// that the previous step has fetched, so reading them costs no message.
class LocalValues {
 public:
  /// `scope` has the device of the worker.
  explicit LocalValues(const Scope& scope) : scope_(scope) {}
  /// Returns the placeholder of a variable. It is created by the first call.
  Output of(Output variable);
  /// Returns the variables that have placeholders, with these.
  const std::vector<std::pair<Output, Output>>& all() const { return all_; }

 private:
  Scope scope_;
  std::vector<std::pair<Output, Output>> all_;
};

/// The strategy of one worker in synchronous replication. A step pushes the gradients of one logical shard, the one that the step
/// names (StepOptions::shard). Each rule is applied once per round, with the mean of the gradients of all shards that count,
/// weighted by samples and summed in shard order, or another combination of them (SyncReplicasApply). All workers must add the
/// same rules in the same order. The nodes run only in training steps.
class SyncReplicas final : public ReplicationStrategy {
 public:
  struct Options {
    int64_t shards = 1;  ///< the number of logical shards of a batch
    int64_t worker = 0;  ///< the number of this worker, for messages to people
    /// The training with a coordinator that the steps belong to (messages/schemas/rounds.capnp); 0: none.
    int64_t training = 0;
    /// Takes the place of the mean; empty: none. All gradients must be dense then.
    Combination combination = {};
  };
  /// `samples` is the number of samples of the step's shard, an int64 scalar.
  SyncReplicas(Output samples, const Options& options, LocalValues& values)
      : samples_(samples), options_(options), values_(values) {}

  Output value(Output variable) override { return values_.of(variable); }
  /// The task that owns the variable sums the rows of all shards.
  IndexedSlices distinct_rows(const Scope&, const IndexedSlices& rows) override { return rows; }
  Scope after(const Scope& scope, const std::vector<Output>&) const override { return scope; }

  /// Returns the number of rules, each of which costs one push per shard and round.
  int64_t rules() const { return static_cast<int64_t>(rounds_.size()); }
  /// Returns a target that pushes the gradients for every rule added so far, and ends when they are kept, before the round has been
  /// applied. It needs a training. A step runs either this or the targets of the rules.
  Output push(const Scope& scope) const { return scope.group(pushes_); }
  /// Returns targets that end when the round of the step has been applied to the variable.
  std::vector<Output> awaited(const Scope& scope, Output variable) const;
  /// Returns the counters of the rounds that have been applied, one for each rule in the order in which they were added.
  const std::vector<Output>& counters() const { return rounds_; }
  /// Returns a target that sets the number of rounds that have been applied, for every rule added so far. It must run before the
  /// first round and after a restore. `rounds` is an int64 scalar.
  Output set_rounds(const Scope& scope, Output rounds) const;

 private:
  Output add(const Scope& scope, const Rule& rule) override;
  Output push(const Scope& scope, const Rule& rule, bool wait) const;

  const Output samples_;
  const Options options_;
  LocalValues& values_;
  std::vector<Output> rounds_;  ///< one counter for each rule, on the device of its variable
  std::vector<Output> pushes_;  ///< one for each rule
  /// By the nodes of variables: the counters of their rules.
  std::map<NodeId, std::vector<Output>> counters_;
  std::map<NodeId, Output> counter_of_;  ///< by the targets of rules
};

}  // namespace troupe::nn
#pragma GCC visibility pop

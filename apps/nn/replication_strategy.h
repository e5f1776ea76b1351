// ReplicationStrategy: how the update rules of an optimizer become nodes of a graph. Without replication each rule is an op that
// changes its variables when the step reaches it. In synchronous between-graph replication (SyncReplicas) each worker pushes its
// gradients to the task that has the variables, and that task applies the rule once with the gradients of all workers (white paper,
// section 7; OSDI 2016, section 4.4). Built from the public builder alone; throws Error like it. Public header. One thread at a
// time per graph.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// One op on variables: "ApplyAdam", "Assign".
struct Rule {
  std::string op;
  std::vector<Output> variables;  ///< the references it begins with; the first is the one it is about
  std::vector<Output> values;     ///< its other inputs, in order
  std::string gradient;  ///< the name of the input that is the gradient of the loss; empty: it has none
  std::vector<std::string> options = {};  ///< its bool attributes that are true
};

/// No replication: a rule is applied when the step reaches its node.
class ReplicationStrategy {
 public:
  virtual ~ReplicationStrategy() = default;
  /// The value of a variable for the use of a rule.
  virtual Output value(Output variable) { return variable; }
  /// Adds the node, in `scope`.
  Output apply(const Scope& scope, const Rule& rule);
  /// Where goes what reads a value that `applied` must have read before it changes.
  virtual Scope after(const Scope& scope, const std::vector<Output>& applied) const {
    return scope.with_control(applied);
  }
  /// What changes this variable: a read of its new value comes after that.
  const std::vector<Output>& updates_of(Output variable) { return applied_[variable.node]; }

 private:
  virtual Output add(const Scope& scope, const Rule& rule);
  std::map<NodeId, std::vector<Output>> applied_;
};

/// Variables of other tasks as the graph of one worker sees them: placeholders on its own device, which each step is fed with what
/// the step before has fetched, so that reading them costs no message.
class LocalValues {
 public:
  /// `scope` has the worker's device.
  explicit LocalValues(const Scope& scope) : scope_(scope) {}
  /// The placeholder for a variable; made when it is first asked for.
  Output of(Output variable);
  /// The variables asked for, and their placeholders.
  const std::vector<std::pair<Output, Output>>& all() const { return all_; }

 private:
  Scope scope_;
  std::vector<std::pair<Output, Output>> all_;
};

/// The part of a worker in synchronous replication: its gradients are pushed, one per logical shard, and each rule is applied once
/// per round, with the mean over the shards of all workers, weighted by samples and summed in shard order (SyncReplicasApply). A
/// node is done when its round is applied. Every worker makes the same rules in the same order. Runs in training steps only.
class SyncReplicas final : public ReplicationStrategy {
 public:
  struct Shard {
    int64_t index = 0;
    Output samples;                      ///< int64 scalar: how many its gradients are the mean of
    std::map<NodeId, Output> gradients;  ///< by variable
  };
  /// `shards`: those of this worker, at least one, out of `total`.
  SyncReplicas(std::vector<Shard> shards, int64_t total, int64_t worker, LocalValues& values)
      : shards_(std::move(shards)), total_(total), worker_(worker), values_(values) {}

  Output value(Output variable) override { return values_.of(variable); }
  Scope after(const Scope& scope, const std::vector<Output>&) const override { return scope; }
  /// A target that sets how many rounds have been applied, to every rule made so far; before the first round, and after a restore.
  Output set_rounds(const Scope& scope, Output rounds) const;

 private:
  Output add(const Scope& scope, const Rule& rule) override;
  Output push(const Scope& scope, const Rule& rule, const Shard& shard, Output round) const;

  std::vector<Shard> shards_;
  int64_t total_, worker_;
  LocalValues& values_;
  std::vector<Output> rounds_;  ///< one counter per rule, beside its variable
};

}  // namespace troupe::nn
#pragma GCC visibility pop

// Synchronous replication over logical shards (features.md, section R; design.md section 4, "Replication").
//   SyncReplicasApply(round, variables, values, samples, after)   rule, options, gradient, indices, combine, shard, shards,
//                                                                 worker, training, wait
//   ResourceSyncReplicasApply                                     the same on resources
//   SyncReplicasAwait(round), ResourceSyncReplicasAwait           ends when the step's round has been applied
// SyncReplicasApply applies an update rule once for each training round, with the mean of the gradients of all shards. Each shard
// runs the op with its own gradient, in any process and in any order; the op ends when the round has been applied. The step
// determines the round, which must be the number of applied rounds plus one: for a round that has been applied the op succeeds at
// once, for any other it fails with Aborted. The ops fail in a step outside training.
//   round       an int64 variable: how many rounds have been applied to `variables`. It is saved with them, so that a repeated
//               round is recognised and not applied again. The shards of one such op share it; other ops have their own
//   variables   the references with which the inputs of the rule begin: var, m and v of ApplyAdam
//   values      the other inputs of the rule, in order, with the gradient of this shard as its gradient input; all others are
//               taken from the first shard that counts
//   samples     the number of samples whose mean is the gradient: its weight. kernels/loops/weighted_mean.h has the arithmetic
//   after       the counters of other such ops on the device: the rule is applied when they have reached the round
//   rule        any op on variables: "ApplyAdam", "Assign"; `options` names its bool attributes that are true
//   gradient    the name of the input of the rule that is averaged; '' for a rule without one, which is applied once per round
//   indices     the name of the input of the rule that numbers the rows of the gradient; '' if the gradient is dense. The rule gets
//               each row that occurs once, as kernels/loops/weighted_rows.h describes
//   combine     a function of the graph's library that replaces the mean; '' for none. It gets the gradients of the shards that
//               count and have samples, in shard order, as the rows of a matrix [shards, elements], and their samples
//               [shards, 1] in the same dtype, and returns the elements of what the rule gets. It may use only ops without effects
//               that have kernels for the CPU, and neither loops nor other functions. Not for gradients with `indices`
//   shard       the shard of the gradient, below `shards`; -1: that of the step
//   worker      the worker that runs the op, for messages to people
//   training    the training with a coordinator to which the gradient belongs (messages/schemas/rounds.capnp); 0: none. With backup
//               workers the coordinator says which shards count
//   wait        if false, the op ends as soon as the gradient is kept for the round; for pushes of a training only
// The replicas service of the device of the variables carries the op out.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status sync_replicas_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  const auto after = static_cast<size_t>(context.attr<int64_t>("M"));
  for (size_t i = context.inputs() - after - 1; i < context.inputs(); ++i)
    TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return {};
}

OpDefBuilder sync_replicas_op(const std::string& name, bool resource) {
  OpDefBuilder op(name);
  op.input(resource ? "round: resource" : "round: Ref(int64)");
  op.input(resource ? "variables: N * resource" : "variables: Ref(N * T)");
  if (!resource) op.attr("T: type");
  return op.input("values: Tvalues")
      .input("samples: int64")
      .input(resource ? "after: M * resource" : "after: Ref(M * int64)")
      .attr("N: int >= 1")
      .attr("M: int >= 0 = 0")
      .attr("Tvalues: list(type)")
      .attr("rule: string")
      .attr("options: list(string) = []")
      .attr("gradient: string = 'grad'")
      .attr("indices: string = ''")
      .attr("combine: func = ''")
      .attr("shard: int >= -1")
      .attr("shards: int >= 1")
      .attr("worker: int >= 0 = 0")
      .attr("training: int = 0")
      .attr("wait: bool = true")
      .served_by("replicas")
      .effect(Effect::State)
      .shape(sync_replicas_shape);
}

OpDefBuilder await_op(const std::string& name, bool resource) {
  return OpDefBuilder(name)
      .input(resource ? "round: resource" : "round: Ref(int64)")
      .attr("training: int = 0")
      .served_by("replicas")
      .effect(Effect::State)
      .shape([](ShapeContext& context) { return context.with_rank(0, 0).status(); })
      .not_differentiable();
}

}  // namespace

void add_replica_ops(OpLibrary& library) {
  library.op(sync_replicas_op("SyncReplicasApply", false));
  library.op(sync_replicas_op("ResourceSyncReplicasApply", true));
  library.op(await_op("SyncReplicasAwait", false));
  library.op(await_op("ResourceSyncReplicasAwait", true));
}

}  // namespace troupe

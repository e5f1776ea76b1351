// Synchronous replication over logical shards (features.md, section R; design.md section 4, "Replication").
//   SyncReplicasApply(round, variables, values, samples)          rule, options, gradient, shard, shards, worker
//   ResourceSyncReplicasApply                                     the same on resources
// Applies an update rule once per training round, with the mean of the gradients of all shards. Each shard runs this op with its
// own gradient, in any process and in any order; it is done when the round has been applied. Which round that is, the step says: one
// more than the rounds applied (an applied one is answered, any other fails: Aborted). In a step outside training it fails.
//   round       an int64 variable: how many rounds have been applied to `variables`. Saved with them, so that a repeat of a round
//               is known as one and not applied again. Each such op has its own, shared by its shards
//   variables   the references that the rule begins with: ApplyAdam's var, m, v
//   values      its other inputs, in order, with this shard's gradient where the rule wants the gradient; all others are taken
//               from shard 0
//   samples     how many samples the gradient is the mean of: its weight. kernels/loops/weighted_mean.h has the arithmetic
//   rule        any op on variables: "ApplyAdam", "Assign"; `options` names those of its bool attributes that are to be true
//   gradient    the name of the rule's input that is averaged; '' for a rule without one, which is then applied once per round
//   worker      who runs it, for people
// The replicas role of the variables' device carries it out.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status sync_replicas_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  return context.with_rank(context.inputs() - 1, 0).status();
}

OpDefBuilder sync_replicas_op(const std::string& name, bool resource) {
  OpDefBuilder op(name);
  op.input(resource ? "round: resource" : "round: Ref(int64)");
  op.input(resource ? "variables: N * resource" : "variables: Ref(N * T)");
  if (!resource) op.attr("T: type");
  return op.input("values: Tvalues")
      .input("samples: int64")
      .attr("N: int >= 1")
      .attr("Tvalues: list(type)")
      .attr("rule: string")
      .attr("options: list(string) = []")
      .attr("gradient: string = 'grad'")
      .attr("shard: int >= 0")
      .attr("shards: int >= 1")
      .attr("worker: int >= 0 = 0")
      .served_by("replicas")
      .effect(Effect::State)
      .shape(sync_replicas_shape);
}

}  // namespace

void add_replica_ops(OpLibrary& library) {
  library.op(sync_replicas_op("SyncReplicasApply", false));
  library.op(sync_replicas_op("ResourceSyncReplicasApply", true));
}

}  // namespace troupe

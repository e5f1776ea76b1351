// Synchronous replication over logical shards (features.md, section R; design.md section 4, "Replication").
//   SyncReplicasApply(round, variables, values, samples)          rule, options, gradient, indices, shard, shards, worker
//   ResourceSyncReplicasApply                                     the same on resources
// The op applies an update rule once for each training round, with the mean of the gradients of all shards. Each shard runs the op
// with its own gradient, in any process and in any order; the op ends when the round has been applied. The step determines the
// round, which must be the number of applied rounds plus one: for a round that has been applied the op succeeds at once, for any
// other it fails with Aborted. It fails in a step outside training.
//   round       an int64 variable: how many rounds have been applied to `variables`. It is saved with them, so that a repeated
//               round is recognised and not applied again. The shards of one such op share it; other ops have their own
//   variables   the references with which the inputs of the rule begin: var, m and v of ApplyAdam
//   values      the other inputs of the rule, in order, with the gradient of this shard as its gradient input; all others are
//               taken from shard 0
//   samples     the number of samples whose mean is the gradient: its weight. kernels/loops/weighted_mean.h has the arithmetic
//   rule        any op on variables: "ApplyAdam", "Assign"; `options` names its bool attributes that are true
//   gradient    the name of the input of the rule that is averaged; '' for a rule without one, which is applied once per round
//   indices     the name of the input of the rule that numbers the rows of the gradient; '' if the gradient is dense. The rule gets
//               each row that occurs once, as kernels/loops/weighted_rows.h describes
//   worker      the worker that runs the op, for messages to people
// The replicas service of the device of the variables carries the op out.
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
      .attr("indices: string = ''")
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

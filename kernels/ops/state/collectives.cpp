// Collectives: ops in which several members take part, each with tensors of its own.
//   WeightedAllReduce(gradients, samples)   the mean of each tensor over all members, weighted by samples. If `root` is not -1,
//                                           only the device of that rank gets it, and others get their gradients back
//   AllReduce(input)                        reduction: 'sum', 'mean', 'max', 'min' or 'prod' over all members
//   ReduceScatter(input)                    the same, of which each member gets its part along dimension 0, in rank order
//   AllGather(input)                        the tensors of all members, joined along dimension 0 in rank order; they may
//                                           differ in that dimension
//   BroadcastSend(input), BroadcastReceive  every member gets the tensor of the only one that sends, rank `root`
// The attribute `members` lists the device of each member ("/job:worker/task:1", where /replica:0 and /device:CPU:0 may be
// missing); the rank of a member is its position. A CPU may occur several times. Each member runs its node once per
// instance: in a step of its own, also of a session in another process, or in one that several members share. The nodes of the
// members have equal `group` and `key` (the node's name, if it is empty), and agree in operation, dtype, shapes and members, or
// else all fail with InvalidArgument. Instances are matched by the training round in training steps, otherwise by counting
// those that ended well. A training run that goes back to earlier rounds takes another group.
//
// Parts are reduced in rank order, each element with its own rounding (kernels/loops/reduce_parts.h): so results have the same
// bits on all members, for any number of processes. The members of the first two ops may also be GPUs, each of them once. They
// exchange the tensors without the hosts (devices/gpu_communicator.h): in an order of their own, but with the same bits on all
// members. When the step of a member ends early, those of the others end with Aborted; when a member is lost, with Unavailable.
// The allreduce service of each member's device carries the ops out.
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "messages/values/device_name.h"

namespace troupe {
namespace {

/// The node of a member runs on the member's device.
std::string device_type_of_member(const Attributes& attrs) {
  const auto& members = attrs.get<std::vector<std::string>>("members");
  const auto rank = static_cast<size_t>(attrs.get<int64_t>("rank"));
  const auto name = rank < members.size() ? DeviceName::parse(members[rank]) : DeviceName();
  return name && !name->type.empty() ? name->type : "CPU";
}

OpDefBuilder collective_op(const std::string& name, ShapeFunction shape) {
  return OpDefBuilder(name)
      .attr("members: list(string) >= 1")
      .attr("rank: int >= 0")
      .attr("group: string = ''")
      .attr("key: string = ''")
      .served_by("allreduce", device_type_of_member)
      .effect(Effect::State)
      .shape(shape);
}

int64_t members_of(const ShapeContext& context) {
  return static_cast<int64_t>(context.attr<std::vector<std::string>>("members").size());
}

Status weighted_all_reduce_shape(ShapeContext& context) {
  const size_t tensors = context.inputs() - 1;
  TROUPE_RETURN_IF_FAILED(context.with_rank(tensors, 0).status());
  for (size_t i = 0; i < tensors; ++i) context.set_output(i, context.input(i));
  return {};
}

Status reduce_scatter_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  if (dims.empty() || (dims[0] != unknown_dim && dims[0] % members_of(context) != 0))
    return invalid_argument("input has shape " + input.text() + "; its dimension 0 must be a multiple of " +
                            std::to_string(members_of(context)) + ", the number of members");
  if (dims[0] != unknown_dim) dims[0] /= members_of(context);
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

Status all_gather_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  if (dims.empty())
    return invalid_argument("input is a scalar; an all-gather joins tensors along dimension 0");
  dims[0] = unknown_dim;
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

Status broadcast_receive_shape(ShapeContext& context) {
  context.set_output(0, context.attr<PartialShape>("shape"));
  return {};
}

/// Adds the collective `op` of a value, in which the members of the node take part. `part` distinguishes several in one gradient.
Output collective_of_gradient(const GradientContext& context, Output value, const char* op,
                              const char* reduction, const std::string& part = "") {
  const Node& node = context.node();
  const auto& key = node.attrs.get<std::string>("key");
  Attributes attrs{{"members", node.attrs.get<std::vector<std::string>>("members")},
                   {"rank", node.attrs.get<int64_t>("rank")},
                   {"group", node.attrs.get<std::string>("group")},
                   {"key", (key.empty() ? node.name : key) + "/gradient" + part}};
  if (reduction) attrs.set("reduction", std::string(reduction));
  return context.scope().add_one(op, {value}, std::move(attrs));
}

/// The loss of every member depends on the means: their gradients are added, and each member has its part of the weight.
void weighted_all_reduce_gradient(GradientContext& context) {
  if (context.attr<int64_t>("root") >= 0)
    throw Error(unimplemented("a mean that only one member gets has no gradient"));
  const auto tensors = static_cast<size_t>(context.attr<int64_t>("N"));
  const Scope& scope = context.scope();
  const Output samples = context.input(tensors);
  const Output total = collective_of_gradient(context, samples, "AllReduce", "sum", "/samples");
  for (size_t i = 0; i < tensors; ++i) {
    const Output sum =
        collective_of_gradient(context, context.gradient(i), "AllReduce", "sum", '/' + std::to_string(i));
    const auto as_type = [&](Output number) {
      return scope.add_one("Cast", {number}, {{"DstT", scope.dtype(sum)}});
    };
    context.set(i, scope.add_one("Mul", {sum, scope.add_one("RealDiv", {as_type(samples), as_type(total)})}));
  }
}

void no_broadcast_gradient(GradientContext&) {
  throw Error(unimplemented("BroadcastSend has no gradient: those that receive have no input"));
}

/// The loss of every member depends on the sum: its gradient is the sum of theirs. Of a mean it is the mean.
void all_reduce_gradient(GradientContext& context) {
  const auto reduction = context.attr<std::string>("reduction");
  if (reduction != "sum" && reduction != "mean")
    throw Error(unimplemented("the reduction '" + reduction + "' of a collective has no gradient"));
  context.set(0, collective_of_gradient(context, context.gradient(), "AllReduce", reduction.c_str()));
}

void reduce_scatter_gradient(GradientContext& context) {
  if (context.node().attrs.get<std::string>("reduction") != "sum")
    throw Error(unimplemented("a reduce-scatter has a gradient only if its reduction is 'sum'"));
  context.set(0, collective_of_gradient(context, context.gradient(), "AllGather", nullptr));
}

/// If the members have as many rows as each other.
void all_gather_gradient(GradientContext& context) {
  context.set(0, collective_of_gradient(context, context.gradient(), "ReduceScatter", "sum"));
}

}  // namespace

void add_collective_ops(OpLibrary& library) {
  library.op(collective_op("WeightedAllReduce", weighted_all_reduce_shape)
                 .input("gradients: N * T")
                 .host_input("samples: int64")
                 .output("means: N * T")
                 .attr("N: int >= 1")
                 .attr("T: floattype")
                 .attr("root: int >= -1 = -1")
                 .gradient(weighted_all_reduce_gradient));
  library.op(collective_op("AllReduce", unchanged_shape)
                 .input("input: T")
                 .output("output: T")
                 .attr("T: numbertype")
                 .attr("reduction: {'sum', 'mean', 'max', 'min', 'prod'} = 'sum'")
                 .gradient(all_reduce_gradient));
  library.op(collective_op("ReduceScatter", reduce_scatter_shape)
                 .input("input: T")
                 .output("output: T")
                 .attr("T: numbertype")
                 .attr("reduction: {'sum', 'mean', 'max', 'min', 'prod'} = 'sum'")
                 .gradient(reduce_scatter_gradient));
  const std::string plain =
      "T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, "
      "complex64, "
      "complex128, bool}";
  library.op(collective_op("AllGather", all_gather_shape)
                 .input("input: T")
                 .output("output: T")
                 .attr(plain)
                 .gradient(all_gather_gradient));
  library.op(collective_op("BroadcastSend", unchanged_shape)
                 .input("input: T")
                 .output("output: T")
                 .attr(plain)
                 .gradient(no_broadcast_gradient));
  library.op(collective_op("BroadcastReceive", broadcast_receive_shape)
                 .output("output: T")
                 .attr(plain)
                 .attr("shape: shape")
                 .attr("root: int >= 0 = 0")
                 .not_differentiable());
}

}  // namespace troupe

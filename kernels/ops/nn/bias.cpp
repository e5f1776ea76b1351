// One bias for each channel. The channels are the last dimension, or with data_format NCHW the second.
//   BiasAdd(value, bias)        adds bias[c] in channel c; BiasAddV1: the same without data_format
//   BiasAddGrad(out_backprop)   the sum of each channel
// The value has rank 2 or more (NCHW: 3 or more) and any number type.
#include "kernels/ops/nn/bias.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/dims.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/elementwise.h"

namespace troupe {
namespace {

bool channels_are_second(const Node& node) {
  const AttrValue* const format = node.attrs.find("data_format");
  return format && std::get<std::string>(*format) == "NCHW";
}

/// Returns which dimension of `value` is that of the channels.
Result<size_t> bias_axis(const Node& node, size_t rank) {
  const bool second = channels_are_second(node);
  if (rank < (second ? 3 : 2))
    return invalid_argument("a tensor of rank " + std::to_string(rank) + " has no channels; data_format " +
                            (second ? "NCHW needs rank 3" : "NHWC needs rank 2") + " or more");
  return second ? 1 : rank - 1;
}

// ---- BiasAdd

Status bias_add_shape(ShapeContext& context) {
  const PartialShape& value = context.input(0);
  TROUPE_ASSIGN(const auto bias, context.with_rank(1, 1));
  if (!value.known_rank()) return {};
  TROUPE_ASSIGN(const size_t axis, bias_axis(context.node(), value.rank()));
  std::vector<int64_t> dims(value.dims().begin(), value.dims().end());
  TROUPE_ASSIGN(const auto count, merge(PartialShape::vector(dims[axis]), bias));
  dims[axis] = count[0];
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

void bias_add_gradient(GradientContext& context) {
  const char* const format = channels_are_second(context.node()) ? "NCHW" : "NHWC";
  context.set(0, context.gradient());
  context.set(1, context.scope().add_one("BiasAddGrad", {context.gradient()},
                                         {{"data_format", std::string(format)}}));
}

// ---- BiasAddGrad

Status bias_add_grad_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  context.set_output(0, PartialShape::vector(unknown_dim));
  if (!input.known_rank()) return {};
  TROUPE_ASSIGN(const size_t axis, bias_axis(context.node(), input.rank()));
  context.set_output(0, PartialShape::vector(input[axis]));
  return {};
}

/// Every element gets the gradient of its channel.
void bias_add_grad_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output zeros = scope.add_one("ZerosLike", {context.input(0)});
  context.set(0, scope.add_one("BiasAdd", {zeros, context.gradient()},
                               {{"data_format", context.attr<std::string>("data_format")}}));
}

}  // namespace

Result<Shape> bias_shape(const KernelContext& context) {
  const Shape &value = context.input(0).shape(), &bias = context.input(1).shape();
  TROUPE_ASSIGN(const size_t axis, bias_axis(context.node(), value.rank()));
  if (bias.rank() != 1 || bias[0] != value[axis])
    return invalid_argument("bias has shape " + bias.text() + ", but value of shape " + value.text() +
                            " needs one bias for each of its " + std::to_string(value[axis]) + " channels");
  Dims dims(value.rank() - axis, 1);
  dims[0] = bias[0];
  return Shape::make(dims, context.input(1).dtype());
}

Result<ReductionArguments> check_bias_add_grad(KernelContext& context) {
  const size_t rank = context.input(0).shape().rank();
  TROUPE_ASSIGN(const size_t channels, bias_axis(context.node(), rank));
  Dims axes;
  for (size_t i = 0; i < rank; ++i)
    if (i != channels) axes.push_back(static_cast<int64_t>(i));
  return reduction_arguments(context, axes, false);
}

void add_bias_ops(OpLibrary& library) {
  constexpr const char* format = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";
  const auto bias_op = [](const char* name) {
    return OpDefBuilder(name)
        .input("value: T")
        .input("bias: T")
        .output("output: T")
        .attr("T: numbertype")
        .shape(bias_add_shape)
        .gradient(bias_add_gradient);
  };
  constexpr auto add = binary_loop<VectorBinary::Add, Add, Joined<IntegerTypes, ComplexTypes>>;
  library.op(bias_op("BiasAdd").attr(format).constructor("bias_add(value, bias, data_format)"));
  library.op(bias_op("BiasAddV1"));
  for (const char* name : {"BiasAdd", "BiasAddV1"}) library.kernel(binary_kernel(name, add, bias_shape));
  library.op(OpDefBuilder("BiasAddGrad")
                 .input("out_backprop: T")
                 .output("output: T")
                 .attr("T: numbertype")
                 .attr(format)
                 .shape(bias_add_grad_shape)
                 .gradient(bias_add_grad_gradient));
  library.kernel(sum_kernel("BiasAddGrad", check_bias_add_grad));
}

}  // namespace troupe

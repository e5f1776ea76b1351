// Values that come from outside the graph or stay unchanged.
//   Const                      the tensor in its attribute
//   Placeholder, PlaceholderV2 must be fed; a node that is fed never runs
//   PlaceholderWithDefault     its input unless fed
//   Fill(dims, value)          a tensor filled with `value`
//   Empty(shape)               zeros, with and without the attribute init: memory of other tensors is never shown
//   Identity(x), Snapshot(x)   x; so do GuaranteeConst and DebugGradientIdentity
//   IdentityN(x...)            each x
//   StopGradient(x)            x, through which no gradient flows
//   PreventGradient(x)         x; a request for a gradient through it is an error
//   NoOp                       nothing: a node for control edges
#include "kernels/ops/array/constant.h"

#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

Status const_shape(ShapeContext& context) {
  const auto& value = context.attr<Tensor>("value");
  if (value.dtype() != context.attr<DType>("dtype"))
    return invalid_argument("value is " + value.signature() + ", but dtype is " +
                            std::string(name(context.attr<DType>("dtype"))));
  if (value.dtype() == DType::Invalid)
    return invalid_argument("the value of a constant was never set, or has been moved to another tensor");
  if (is_local(value.dtype()))
    return invalid_argument("a constant cannot be of dtype " + std::string(name(value.dtype())));
  context.set_output(0, value.shape());
  return {};
}

/// The kernel of a Const. The plan takes its value instead of running it.
class ConstKernel final : public Kernel {
 public:
  explicit ConstKernel(Tensor value) : value_(std::move(value)) {}
  Status run(KernelContext& context) const override {
    context.set_output(0, value_);
    return {};
  }
  Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const override {
    TROUPE_RETURN_IF_FAILED(run(context));
    return std::unique_ptr<DeviceWork>();
  }
  const Tensor* constant() const override { return &value_; }

 private:
  Tensor value_;
};

Result<std::unique_ptr<Kernel>> prepare_const(const PrepareContext& context) {
  const auto& value = context.attr<Tensor>("value");
  TROUPE_ASSIGN(Tensor copy, Tensor::allocate(value.dtype(), value.shape(), context.device.host_memory()));
  const Dims strides = strides_of(value.shape().dims());
  strided_copy(context.device.pool(), value.shape().dims(), value, {0, strides}, copy, {0, strides});
  return make_const_kernel(std::move(copy));
}

Status placeholder_shape(ShapeContext& context) {
  context.set_output(0, context.attr<PartialShape>("shape"));
  return {};
}

Status run_placeholder(KernelContext& context) {
  const auto& attrs = context.node().attrs;
  return invalid_argument("a value of dtype " + std::string(name(attrs.get<DType>("dtype"))) + " and shape " +
                          attrs.get<PartialShape>("shape").text() + " must be fed");
}

Status placeholder_with_default_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(merge(context.input(0), context.attr<PartialShape>("shape")).status());
  return placeholder_shape(context);
}

Status run_placeholder_with_default(KernelContext& context) {
  const auto& shape = context.node().attrs.get<PartialShape>("shape");
  if (!shape.compatible_with(context.input(0).shape()))
    return invalid_argument("the default value has shape " + context.input(0).shape().text() +
                            ", which does not match the attribute shape, " + shape.text());
  context.set_output(0, context.input(0));
  return {};
}

Status fill_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 0));
  if (const auto dims = context.constant_integers(0))
    TROUPE_RETURN_IF_FAILED(Shape::make(*dims, context.input_dtype(1)).status());
  context.set_output(0, std::move(shape));
  return {};
}

void compute_fill(const FillArguments& arguments, DeviceContext& device) {
  fill(device.pool(), arguments.output, &arguments.value);
}

void fill_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient();
  const Output axes = scope.add_one(
      "Range", {integer_constant(scope, 0), scope.add_one("Rank", {gradient}), integer_constant(scope, 1)});
  context.set(1, scope.add_one("Sum", {gradient, axes}));
}

Status identities_shape(ShapeContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i) context.set_output(i, context.input(i));
  return {};
}

Status run_identity(KernelContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i) context.set_output(i, context.input(i));
  return {};
}

void identity_gradient(GradientContext& context) { context.set(0, context.gradient()); }

void identities_gradient(GradientContext& context) {
  for (size_t i = 0; i < context.node().inputs.size(); ++i)
    if (context.has_gradient(i)) context.set(i, context.gradient(i));
}

void prevented_gradient(GradientContext& context) {
  throw Error(invalid_argument("the gradient is disabled here: " + context.attr<std::string>("message"))
                  .at_node(context.node().type(), context.node().name));
}

Status run_no_op(KernelContext&) { return {}; }

Status empty_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 0));
  context.set_output(0, std::move(shape));
  return {};
}

void compute_empty(const EmptyArguments& arguments, DeviceContext& device) {
  fill(device.pool(), arguments.output);
}

OpDefBuilder placeholder_op(const char* name, const char* shape) {
  return OpDefBuilder(name)
      .output("output: dtype")
      .attr("dtype: type")
      .attr(shape)
      .effect(Effect::Step)
      .shape(placeholder_shape)
      .not_differentiable();
}

/// An op that returns its only input unchanged.
OpDefBuilder identity_op(const char* name) {
  return OpDefBuilder(name).input("input: T").output("output: T").attr("T: type").shape(unchanged_shape);
}

void add_sources(OpLibrary& library) {
  library.op(OpDefBuilder("Const")
                 .output("output: dtype")
                 .attr("value: tensor")
                 .attr("dtype: type")
                 .shape(const_shape)
                 .not_differentiable());
  library.kernel(kernel_on(std::string(any_device), "Const", prepare_const).inexpensive());
  library.op(placeholder_op("Placeholder", "shape: shape = ?").constructor("placeholder(dtype, shape)"));
  library.op(placeholder_op("PlaceholderV2", "shape: shape"));
  for (const char* name : {"Placeholder", "PlaceholderV2"})
    library.kernel(host_kernel(name, run_placeholder).inexpensive());
  library.op(OpDefBuilder("PlaceholderWithDefault")
                 .input("input: dtype")
                 .output("output: dtype")
                 .attr("dtype: type")
                 .attr("shape: shape")
                 .constructor("placeholder_with_default(input, shape)")
                 .shape(placeholder_with_default_shape)
                 .gradient(identity_gradient));
  library.kernel(
      host_kernel("PlaceholderWithDefault", run_placeholder_with_default).any_type().inexpensive());
  library.op(OpDefBuilder("Fill")
                 .host_input("dims: index_type")
                 .input("value: T")
                 .output("output: T")
                 .attr("T: type")
                 .attr("index_type: {int32, int64} = int32")
                 .constructor("fill(dims, value)")
                 .constructor("zeros(shape: dims, dtype: T = float, value = 0)")
                 .constructor("ones(shape: dims, dtype: T = float, value = 1)")
                 .shape(fill_shape)
                 .gradient(fill_gradient));
  library.kernel(cpu_kernel("Fill", check_fill, compute_fill));
  library.op(OpDefBuilder("Empty")
                 .host_input("shape: int32")
                 .output("output: dtype")
                 .attr("dtype: type")
                 .attr("init: bool = false")
                 .shape(empty_shape));
  library.kernel(cpu_kernel("Empty", check_empty, compute_empty));
}

}  // namespace

std::unique_ptr<Kernel> make_const_kernel(Tensor value) {
  return std::make_unique<ConstKernel>(std::move(value));
}

Result<EmptyArguments> check_empty(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return EmptyArguments{*output};
}

Result<FillArguments> check_fill(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "dims"));
  const Tensor& value = context.input(1);
  if (!value.shape().is_scalar())
    return invalid_argument("value of shape " + value.shape().text() + " is not a scalar");
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, value.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return FillArguments{value, *output};
}

void add_constant_ops(OpLibrary& library) {
  add_sources(library);
  library.op(identity_op("Identity").constructor("identity(input)").gradient(identity_gradient));
  for (const char* name : {"Snapshot", "DebugGradientIdentity"})
    library.op(identity_op(name).gradient(identity_gradient));
  library.op(identity_op("GuaranteeConst"));
  library.op(OpDefBuilder("DeepCopy").input("x: T").output("y: T").attr("T: type").shape(unchanged_shape));
  library.op(OpDefBuilder("IdentityN")
                 .input("input: T")
                 .output("output: T")
                 .attr("T: list(type) >= 1")
                 .shape(identities_shape)
                 .gradient(identities_gradient));
  library.op(identity_op("StopGradient").constructor("stop_gradient(input)").not_differentiable());
  library.op(identity_op("PreventGradient").attr("message: string = ''").gradient(prevented_gradient));
  for (const char* name : {"Identity", "Snapshot", "DebugGradientIdentity", "GuaranteeConst", "DeepCopy",
                           "IdentityN", "StopGradient", "PreventGradient"})
    library.kernel(host_kernel(name, run_identity).any_type().inexpensive());
  library.op(OpDefBuilder("NoOp").shape(no_output_shape).not_differentiable());
  library.kernel(host_kernel("NoOp", run_no_op).inexpensive());
}

}  // namespace troupe

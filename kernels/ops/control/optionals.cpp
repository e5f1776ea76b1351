// Optionals (kernels/core/optional_value.h), in which graphs of TensorFlow 2 keep what the gradient of a branch needs of it.
//   OptionalFromValue(components...)   an optional with these tensors
//   OptionalNone()                     one without a value
//   OptionalHasValue(optional)         whether it has one
//   OptionalGetValue(optional)         the tensors. InvalidArgument if there is no value, or its dtypes or shapes are not those of
//                                      output_types and output_shapes.
// The gradient of an optional is an optional with the gradients of its components.
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/optional_value.h"

namespace troupe {
namespace {

Status optional_output(KernelContext& context, std::vector<Tensor> components) {
  auto optional = std::make_unique<OptionalValue>(std::move(components));
  if (optional->levels > OptionalValue::max_levels)
    return invalid_argument("optionals and lists in each other can be nested at most " +
                            std::to_string(OptionalValue::max_levels) + " times");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  output->write<Variant>()[0] = std::move(optional);
  return {};
}

Status run_from_value(KernelContext& context) {
  std::vector<Tensor> components;
  for (size_t i = 0; i < context.inputs(); ++i) components.push_back(context.input(i));
  return optional_output(context, std::move(components));
}

Status run_none(KernelContext& context) { return optional_output(context, {}); }

Result<const OptionalValue*> optional_in(const KernelContext& context) {
  if (const OptionalValue* const optional = find_optional(context.input(0))) return optional;
  return invalid_argument("the input is not an optional");
}

Status run_has_value(KernelContext& context) {
  TROUPE_ASSIGN(const OptionalValue* const optional, optional_in(context));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  output->write<bool>()[0] = !optional->components.empty();
  return {};
}

Status run_get_value(KernelContext& context) {
  TROUPE_ASSIGN(const OptionalValue* const optional, optional_in(context));
  const auto& types = context.node().attrs.get<std::vector<DType>>("output_types");
  const auto& shapes = context.node().attrs.get<std::vector<PartialShape>>("output_shapes");
  const std::vector<Tensor>& components = optional->components;
  if (components.empty()) return invalid_argument("the optional has no value");
  if (components.size() != types.size())
    return invalid_argument("the optional has " + std::to_string(components.size()) +
                            " components, but output_types has " + std::to_string(types.size()));
  for (size_t i = 0; i < components.size(); ++i) {
    if (components[i].dtype() != types[i] || !shapes[i].compatible_with(components[i].shape()))
      return invalid_argument("component " + std::to_string(i) + " is " + components[i].signature() +
                              ", expected " + std::string(name(types[i])) + shapes[i].text());
    context.set_output(i, components[i]);
  }
  return {};
}

Status get_value_shape(ShapeContext& context) {
  const auto& types = context.attr<std::vector<DType>>("output_types");
  const auto& shapes = context.attr<std::vector<PartialShape>>("output_shapes");
  if (types.size() != shapes.size())
    return invalid_argument("output_types has " + std::to_string(types.size()) +
                            " elements and output_shapes " + std::to_string(shapes.size()));
  for (size_t i = 0; i < shapes.size(); ++i) context.set_output(i, shapes[i]);
  return {};
}

void from_value_gradient(GradientContext& context) {
  if (!context.has_gradient(0)) return;
  const Graph& graph = context.scope().graph();
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
  for (const Output& input : context.node().inputs) {
    types.push_back(graph.dtype(input));
    shapes.push_back(graph.shape(input));
  }
  const size_t count = types.size();
  const NodeId values =
      context.scope().add("OptionalGetValue", {context.gradient()},
                          {{"output_types", std::move(types)}, {"output_shapes", std::move(shapes)}});
  for (uint32_t i = 0; i < count; ++i) context.set(i, Output{values, i});
}

void get_value_gradient(GradientContext& context) {
  std::vector<Output> gradients;
  for (size_t i = 0; i < context.node().output_types.size(); ++i) gradients.push_back(context.gradient(i));
  context.set(0, context.scope().add_one("OptionalFromValue", std::move(gradients)));
}

}  // namespace

void add_optional_ops(OpLibrary& library) {
  library.op(OpDefBuilder("OptionalFromValue")
                 .input("components: Toutput_types")
                 .output("optional: variant")
                 .attr("Toutput_types: list(type) >= 1")
                 .shape(scalar_shape)
                 .gradient(from_value_gradient));
  library.op(
      OpDefBuilder("OptionalNone").output("optional: variant").shape(scalar_shape).not_differentiable());
  library.op(OpDefBuilder("OptionalHasValue")
                 .input("optional: variant")
                 .output("has_value: bool")
                 .shape(scalar_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("OptionalGetValue")
                 .input("optional: variant")
                 .output("components: output_types")
                 .attr("output_types: list(type) >= 1")
                 .attr("output_shapes: list(shape) >= 1")
                 .shape(get_value_shape)
                 .gradient(get_value_gradient));
  library.kernel(host_kernel("OptionalFromValue", run_from_value).any_type().inexpensive());
  library.kernel(host_kernel("OptionalNone", run_none).inexpensive());
  library.kernel(host_kernel("OptionalHasValue", run_has_value).inexpensive());
  library.kernel(host_kernel("OptionalGetValue", run_get_value).any_type().inexpensive());
}

}  // namespace troupe

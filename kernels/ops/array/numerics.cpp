// Checks of numbers (features.md U7), of any float type:
//   CheckNumerics(x)          x; fails with InvalidArgument and `message` if x contains NaN or Inf
//   _CheckFinite(x, inputs)   x, an output of another node; fails with InvalidArgument, which names that node, if x contains NaN or
//                             Inf and `inputs`, those of the node, do not. A pass of the master adds it
//                             (graph/passes/partition/check_finite.h)
// Shapes: that of x. The gradient of CheckNumerics is checked, too.
#include "kernels/ops/array/numerics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "graph/passes/partition/check_finite.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

std::string names_of(NotFinite found) {
  if (found.inf && found.nan) return "Inf and NaN";
  return found.inf ? "Inf" : "NaN";
}

/// Returns whether all elements are finite: their bits without the sign, as numbers, are then below those of infinity.
template <class T>
bool is_finite(std::span<const T> elements) {
  using Bits =
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  constexpr auto magnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  Bits largest = 0;
  for (const T element : elements)
    largest = std::max(largest, static_cast<Bits>(std::bit_cast<Bits>(element) & magnitude));
  return largest < std::bit_cast<Bits>(static_cast<T>(std::numeric_limits<float>::infinity()));
}

template <class T>
NotFinite find_in(std::span<const T> elements) {
  NotFinite found;
  for (const T element : elements) {
    const auto number = static_cast<ComputeType<T>>(element);
    found.inf |= std::isinf(number);
    found.nan |= std::isnan(number);
  }
  return found;
}

NotFinite find_not_finite(const Tensor& tensor) {
  NotFinite found;
  with_type(AllFloatTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> elements = tensor.as<T>();
    if (!is_finite(elements)) found = find_in(elements);
  });
  return found;
}

Status compute_check_numerics(const CheckNumericsArguments& arguments, DeviceContext&) {
  return not_finite(arguments.message, find_not_finite(arguments.tensor));
}

void check_numerics_gradient(GradientContext& context) {
  const std::string message = "Not a number (NaN) or infinity (Inf) values detected in gradient.";
  context.set(0, context.scope().add_one("CheckNumerics", {context.gradient()}, {{"message", message}}));
}

Status compute_check_finite(const CheckFiniteArguments& arguments, DeviceContext&) {
  const NotFinite found = find_not_finite(arguments.tensor);
  if (!found.any()) return {};
  const bool excused = std::ranges::any_of(arguments.inputs,
                                           [](const Tensor* input) { return find_not_finite(*input).any(); });
  return excused ? Status() : first_not_finite(arguments.node, found);
}

void check_finite_gradient(GradientContext& context) { context.set(0, context.gradient()); }

}  // namespace

Result<CheckNumericsArguments> check_check_numerics(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  context.set_output(0, tensor);
  return CheckNumericsArguments{tensor, context.node().attrs.get<std::string>("message")};
}

Status not_finite(const std::string& message, NotFinite found) {
  if (!found.any()) return {};
  return invalid_argument(message + " : Tensor had " + names_of(found) + " values");
}

Result<CheckFiniteArguments> check_check_finite(KernelContext& context) {
  CheckFiniteArguments arguments{context.input(0), {}, context.node()};
  for (size_t i = 1; i < context.inputs(); ++i) {
    if (!is_floating(context.input(i).dtype()))
      return invalid_argument("input " + std::to_string(i) + " is " +
                              std::string(name(context.input(i).dtype())) + "; it must be a float type");
    arguments.inputs.push_back(&context.input(i));
  }
  context.set_output(0, arguments.tensor);
  return arguments;
}

Status first_not_finite(const Node& node, NotFinite found) {
  const Attributes& attrs = node.attrs;
  const std::string &op = attrs.get<std::string>("op"), &variables = attrs.get<std::string>("variables");
  std::string text =
      op == checked_feed ? "the tensor that is fed" : "output " + std::to_string(attrs.get<int64_t>("index"));
  text.append(" has ").append(names_of(found)).append(", ").append(first_not_finite_note);
  if (!variables.empty()) text.append("; it reads ").append(variables);
  return invalid_argument(std::move(text)).at_node(op, attrs.get<std::string>("node"));
}

void add_numerics_ops(OpLibrary& library) {
  library.op(OpDefBuilder("CheckNumerics")
                 .input("tensor: T")
                 .output("output: T")
                 .attr("T: floattype")
                 .attr("message: string")
                 .constructor("check_numerics(tensor, message)")
                 .effect(Effect::Guard)
                 .shape(unchanged_shape)
                 .gradient(check_numerics_gradient));
  library.kernel(cpu_kernel("CheckNumerics", check_check_numerics, compute_check_numerics));
  library.op(OpDefBuilder(std::string(check_finite_op))
                 .input("tensor: T")
                 .input("inputs: Tinputs")
                 .output("output: T")
                 .attr("T: floattype")
                 .attr("Tinputs: list(type) >= 0")
                 .attr("op: string")
                 .attr("node: string")
                 .attr("index: int")
                 .attr("variables: string = ''")
                 .effect(Effect::Guard)
                 .shape(unchanged_shape)
                 .gradient(check_finite_gradient));
  library.kernel(cpu_kernel(std::string(check_finite_op), check_check_finite, compute_check_finite));
}

}  // namespace troupe

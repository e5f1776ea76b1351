// Floats rounded to the steps of num_bits bits, as quantising with mode SCALED and reading back would:
//   QuantizeAndDequantize(input)                                    the range is in the attributes input_min and input_max
//   QuantizeAndDequantizeV2(input, input_min, input_max)            the range is a scalar each, or with axis >= 0 a vector each
//   QuantizeAndDequantizeV3(input, input_min, input_max, num_bits)  the number of bits is a scalar
// Without range_given the range is that of the input, or of the slice of the input at each index of the axis. Steps are those of
// signed integers where signed_input is true, without the lowest one where narrow_range is true. The range shrinks to where 0 is a
// step and both ends fit; a range that is given bounds the floats. Halves are rounded to even, or up where round_mode says so. Half
// and bfloat16 are computed in float. The gradient by the input is that of the output. Fails with InvalidArgument for num_bits
// outside [1, 61], 62 without sign, for a minimum above its maximum, and for ranges of another shape. Source:
// tensorflow/core/kernels/quantize_and_dequantize_op.h.
#include "kernels/ops/quantized/quantize_and_dequantize.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

// ---- Checks

Status check_bits(const Node& node, int64_t bits) {
  const int64_t limit = node.attrs.get<bool>("signed_input") ? 62 : 63;
  if (bits > 0 && bits < limit) return {};
  return invalid_argument("num_bits is " + std::to_string(bits) + "; it must be in [1, " +
                          std::to_string(limit) + ")");
}

/// Returns the axis of the ranges, or nothing if there is one range.
Result<std::optional<size_t>> axis_of(const Node& node, const PartialShape& input) {
  const AttrValue* const attr = node.attrs.find("axis");
  const int64_t axis = attr ? std::get<int64_t>(*attr) : -1;
  if (axis < -1) return invalid_argument("axis is " + std::to_string(axis) + "; it must be at least -1");
  if (axis < 0 || !input.known_rank()) return std::optional<size_t>();
  if (axis >= static_cast<int64_t>(input.rank()))
    return invalid_argument("axis is " + std::to_string(axis) + ", but input has shape " + input.text());
  return std::optional<size_t>(static_cast<size_t>(axis));
}

Status check_range_shapes(const Node& node, const PartialShape& input, const PartialShape& min,
                          const PartialShape& max) {
  TROUPE_ASSIGN(const auto axis, axis_of(node, input));
  if (!input.known_rank()) return {};
  const PartialShape expected = axis ? PartialShape{input[*axis]} : PartialShape::scalar();
  if (min.compatible_with(expected) && max.compatible_with(expected)) return {};
  return invalid_argument("input_min has shape " + min.text() + " and input_max has shape " + max.text() +
                          "; both must have shape " + expected.text());
}

Status rounded_shape(ShapeContext& context) {
  if (context.attr<bool>("range_given") && context.inputs() > 1)
    TROUPE_RETURN_IF_FAILED(
        check_range_shapes(context.node(), context.input(0), context.input(1), context.input(2)));
  TROUPE_RETURN_IF_FAILED(axis_of(context.node(), context.input(0)).status());
  if (context.inputs() == 4) TROUPE_RETURN_IF_FAILED(context.with_rank(3, 0).status());
  return unchanged_shape(context);
}

Result<int64_t> bits_of(const KernelContext& context) {
  const Node& node = context.node();
  if (context.inputs() < 4) return node.attrs.get<int64_t>("num_bits");
  const Tensor& bits = context.input(3);
  if (!bits.shape().is_scalar())
    return invalid_argument("num_bits has shape " + bits.shape().text() + "; it must be a scalar");
  return integer_scalar(bits, "num_bits");
}

// ---- Computing

/// The range of the elements of each slice, or of all of them.
template <class T>
std::vector<ElementRange<ComputeType<T>>> rounded_ranges(const RoundingArguments& arguments) {
  using Number = ComputeType<T>;
  std::vector<ElementRange<Number>> ranges(arguments.ranges);
  if (!arguments.given) {
    const auto x = arguments.input.as<T>();
    for (size_t i = 0; i < x.size(); ++i) {
      ElementRange<Number>& range = ranges[i / arguments.inner % arguments.ranges];
      const auto number = static_cast<Number>(x[i]);
      range = JoinRanges<Number>()(range, {number, number});
    }
  } else if (arguments.min) {
    for (size_t i = 0; i < ranges.size(); ++i)
      ranges[i] = {static_cast<Number>(arguments.min->as<T>()[i]),
                   static_cast<Number>(arguments.max->as<T>()[i])};
  } else {
    std::ranges::fill(ranges, ElementRange<Number>{static_cast<Number>(arguments.low),
                                                   static_cast<Number>(arguments.high)});
  }
  return ranges;
}

template <class T>
Status round_all(Pool& pool, const RoundingArguments& arguments) {
  std::vector<Rounding<ComputeType<T>>> roundings;
  for (const auto& [min, max] : rounded_ranges<T>(arguments)) {
    if (arguments.given && min > max)
      return invalid_argument("input_min is " + std::to_string(min) +
                              "; it must not be above input_max, which is " + std::to_string(max));
    roundings.emplace_back(min, max, arguments.lowest, arguments.highest);
  }
  const auto x = arguments.input.as<T>();
  const auto y = arguments.output.write<T>();
  parallel_items(pool, x.size(), 4 * sizeof(T), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      y[i] = T(roundings[i / arguments.inner % arguments.ranges](static_cast<ComputeType<T>>(x[i]),
                                                                 arguments.given, arguments.up));
  });
  return {};
}

Status compute_rounding(const RoundingArguments& arguments, DeviceContext& device) {
  Status status;
  with_type(AllFloatTypes{}, arguments.input.dtype(),
            [&]<class T>(std::type_identity<T>) { status = round_all<T>(device.pool(), arguments); });
  return status;
}

// ---- Definitions

void rounding_gradient(GradientContext& context) { context.set(0, context.gradient()); }

OpDefBuilder rounding_op(const char* name, const char* given) {
  return OpDefBuilder(name)
      .input("input: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("signed_input: bool = true")
      .attr(std::string("range_given: bool = ") + given)
      .shape(rounded_shape)
      .gradient(rounding_gradient);
}

OpDefBuilder& add_range(OpDefBuilder& op) {
  return op.input("input_min: T")
      .input("input_max: T")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1");
}

}  // namespace

Result<RoundingArguments> check_rounding(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& input = context.input(0);
  const auto flag = [&](const char* name) {
    const AttrValue* const attr = node.attrs.find(name);
    return attr && std::get<bool>(*attr);
  };
  TROUPE_ASSIGN(const int64_t bits, bits_of(context));
  TROUPE_RETURN_IF_FAILED(check_bits(node, bits));
  TROUPE_ASSIGN(const auto axis, axis_of(node, input.shape()));
  const bool given = flag("range_given"), has_inputs = context.inputs() > 1;
  if (given && has_inputs)
    TROUPE_RETURN_IF_FAILED(
        check_range_shapes(node, input.shape(), context.input(1).shape(), context.input(2).shape()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  const bool is_signed = flag("signed_input");
  const double half = std::ldexp(1.0, static_cast<int>(bits) - 1);
  const AttrValue* const rounding = node.attrs.find("round_mode");
  return RoundingArguments{
      input,
      given && has_inputs ? &context.input(1) : nullptr,
      given && has_inputs ? &context.input(2) : nullptr,
      *output,
      axis ? static_cast<size_t>(input.shape()[*axis]) : 1,
      axis ? count_of(input.shape().dims().subspan(*axis + 1)) : static_cast<size_t>(input.elements()),
      given,
      has_inputs ? 0 : node.attrs.get<float>("input_min"),
      has_inputs ? 0 : node.attrs.get<float>("input_max"),
      is_signed ? (flag("narrow_range") ? 1 - half : -half) : 0,
      is_signed ? half - 1 : 2 * half - 1,
      rounding && std::get<std::string>(*rounding) == "HALF_UP"};
}

void add_quantize_and_dequantize_ops(OpLibrary& library) {
  OpDefBuilder first = rounding_op("QuantizeAndDequantize", "false"),
               second = rounding_op("QuantizeAndDequantizeV2", "false"),
               third = rounding_op("QuantizeAndDequantizeV3", "true");
  library.op(first.attr("num_bits: int = 8").attr("input_min: float = 0").attr("input_max: float = 0"));
  library.op(add_range(second)
                 .attr("num_bits: int = 8")
                 .attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'"));
  library.op(add_range(third).host_input("num_bits: int32"));
  for (const char* name : {"QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3"})
    library.kernel(cpu_kernel(name, check_rounding, compute_rounding));
}

}  // namespace troupe

// Floats as integers, and back.
//   QuantizeV2(input, min_range, max_range)    output: the step of each float; output_min, output_max: the range that they have
//   Dequantize(input, min_range, max_range)    the float of each step
// With axis >= 0 the ranges are vectors, with a range for each index of that axis; otherwise they hold one float. The mode says how
// the range [min, max] and the steps [lowest, highest] of the type T match:
//   MIN_COMBINED   step = (x - min) (highest - lowest) / (max - min), and for signed types half the steps less
//   MIN_FIRST      the same, but 0 is a step: min is moved to the nearest multiple of a step
//   SCALED         step = x s, where s is the greatest factor for which the range fits the steps, without the lowest one where
//                  narrow_range is true; the range of the output is then that of the steps
// QuantizeV2 widens the range to hold 0, and to at least ensure_minimum_range of its greatest number (of 1 if that is less). Floats
// outside the range become its ends, NaN its minimum. Halves are rounded away from zero, or to even where round_mode says so, with
// SCALED. Dequantize yields float or bfloat16. Fails with InvalidArgument for a maximum below its minimum, an axis that the input
// does not have, and ranges of another shape. Source: tensorflow/core/kernels/quantize_op.cc, dequantize_op.cc.
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/quantized/quantization.h"

namespace troupe {
namespace {

enum class Mode : uint8_t { MinCombined, MinFirst, Scaled };

Mode mode_of(const Node& node) {
  const auto& mode = node.attrs.get<std::string>("mode");
  return mode == "SCALED" ? Mode::Scaled : mode == "MIN_FIRST" ? Mode::MinFirst : Mode::MinCombined;
}

// ---- Checks

/// Returns how many ranges an input of known rank has: one for each index of the axis, or nothing if there is no axis.
Result<std::optional<int64_t>> ranges_of(const Node& node, const PartialShape& input) {
  const auto axis = node.attrs.get<int64_t>("axis");
  if (axis < 0) return std::optional<int64_t>();
  if (axis >= static_cast<int64_t>(input.rank()))
    return invalid_argument("axis is " + std::to_string(axis) + ", but input has shape " + input.text());
  return std::optional<int64_t>(input[static_cast<size_t>(axis)]);
}

Status check_round_mode(const Node& node) {
  const AttrValue* const rounding = node.attrs.find("round_mode");
  if (!rounding || std::get<std::string>(*rounding) != "HALF_TO_EVEN" || mode_of(node) == Mode::Scaled)
    return {};
  return invalid_argument("round_mode HALF_TO_EVEN is only for mode SCALED, not for " +
                          node.attrs.get<std::string>("mode"));
}

Status check_ranges(const Node& node, const PartialShape& input, const PartialShape& min,
                    const PartialShape& max) {
  if (!input.known_rank()) return {};
  TROUPE_ASSIGN(const auto count, ranges_of(node, input));
  for (const PartialShape* const range : {&min, &max}) {
    if (!range->fully_known()) continue;
    const bool fits = count ? range->compatible_with(PartialShape{*count}) : count_of(range->dims()) == 1;
    if (!fits)
      return invalid_argument(
          "the ranges have shapes " + min.text() + " and " + max.text() + " for input of shape " +
          input.text() + "; they must have " +
          (count ? "shape [" + std::to_string(*count) + "]" : std::string("one element")));
  }
  return {};
}

Status check_shapes(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_round_mode(context.node()));
  return check_ranges(context.node(), context.input(0), context.input(1), context.input(2));
}

Status quantize_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_shapes(context));
  for (size_t i = 0; i < 3; ++i) context.set_output(i, context.input(i));
  return {};
}

Status dequantize_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_shapes(context));
  return unchanged_shape(context);
}

/// A tensor as [outer, ranges, inner]: the elements of a range stand together in runs of `inner`.
struct Slices {
  size_t ranges = 1, inner = 1;
};

struct QuantizeArguments {
  const Tensor &input, &min, &max;
  Tensor& output;
  Tensor *output_min, *output_max;  ///< null for Dequantize
  Slices slices;
  Mode mode;
  bool narrow, to_even;
  float least;  ///< ensure_minimum_range
};

Result<QuantizeArguments> check_arguments(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& input = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_round_mode(node));
  TROUPE_RETURN_IF_FAILED(
      check_ranges(node, input.shape(), context.input(1).shape(), context.input(2).shape()));
  const auto axis = node.attrs.get<int64_t>("axis");
  Slices slices{1, static_cast<size_t>(input.elements())};
  if (axis >= 0)
    slices = {static_cast<size_t>(input.shape()[static_cast<size_t>(axis)]),
              count_of(input.shape().dims().subspan(static_cast<size_t>(axis) + 1))};
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return QuantizeArguments{input,
                           context.input(1),
                           context.input(2),
                           *output,
                           nullptr,
                           nullptr,
                           slices,
                           mode_of(node),
                           node.attrs.get<bool>("narrow_range"),
                           false,
                           0};
}

Result<QuantizeArguments> check_quantize(KernelContext& context) {
  TROUPE_ASSIGN(QuantizeArguments arguments, check_arguments(context));
  TROUPE_ASSIGN(arguments.output_min, context.output(1, context.input(1).shape()));
  TROUPE_ASSIGN(arguments.output_max, context.output(2, context.input(2).shape()));
  const Attributes& attrs = context.node().attrs;
  arguments.to_even = attrs.get<std::string>("round_mode") == "HALF_TO_EVEN";
  arguments.least = attrs.get<float>("ensure_minimum_range");
  return arguments;
}

// ---- Computing

/// Calls run(range, begin, end) for runs of elements of one range.
template <class Run>
void for_each_run(Pool& pool, const QuantizeArguments& arguments, const Run& run) {
  const Slices& slices = arguments.slices;
  const auto elements = static_cast<size_t>(arguments.input.elements());
  const size_t cost = sizeof(float) + size_of(arguments.input.dtype());
  parallel_items(pool, elements, cost, [&](size_t begin, size_t end) {
    while (begin < end) {
      const size_t next = std::min(end, (begin / slices.inner + 1) * slices.inner);
      run(begin / slices.inner % slices.ranges, begin, next);
      begin = next;
    }
  });
}

/// Returns the range widened to hold 0 and to the least width.
FloatRange widened(FloatRange range, float least) {
  const float greatest = std::max(1.0F, std::max(std::abs(range.min), std::abs(range.max)));
  const float min = std::min(0.0F, range.min);
  return {min, std::max(0.0F, std::max(range.max, min + greatest * least))};
}

/// Mode SCALED: the factor, and the range of all steps.
template <class T>
struct Scaling {
  float factor;
  FloatRange range;

  Scaling(FloatRange given, bool narrow) {
    const auto low = static_cast<float>(lowest_step<T>() + (narrow ? 1 : 0)),
               high = static_cast<float>(highest_step<T>());
    const auto side = [](float steps, float end) {
      return steps * end > 0 ? steps / end : std::numeric_limits<float>::max();
    };
    factor = std::min(side(low, given.min), side(high, given.max));
    range = {low / factor, high / factor};
  }
};

/// Makes a float a step, by the mode. Constant.
template <class T>
class Step {
 public:
  Step(const QuantizeArguments& arguments, FloatRange range)
      : mode_(arguments.mode), to_even_(arguments.to_even), range_(range), nearest_(range) {
    if (mode_ == Mode::Scaled) {
      const Scaling<T> scaling(range, arguments.narrow);
      range_ = scaling.range;
      factor_ = scaling.factor;
    } else {
      factor_ = static_cast<float>(step_count<T>() / static_cast<double>(range.width()));
    }
  }
  FloatRange range() const { return range_; }

  T operator()(float x) const {
    if (mode_ == Mode::MinFirst) return nearest_(x);
    const float inside = x > range_.min ? std::min(x, range_.max) : range_.min;
    if (mode_ == Mode::MinCombined) return combined((inside - range_.min) * factor_);
    const float scaled = inside * factor_;
    return clamped_step<T>(static_cast<double>(to_even_ ? std::nearbyint(scaled) : std::round(scaled)));
  }

 private:
  static T combined(float steps) {
    if constexpr (std::is_signed_v<StorageOf<T>>)
      return clamped_step<T>(
          static_cast<double>(std::round(steps - static_cast<float>(step_count<T>() + 1) / 2)));
    else
      return clamped_step<T>(std::floor(static_cast<double>(steps + 0.5F)));
  }

  Mode mode_;
  bool to_even_;
  FloatRange range_;
  float factor_ = 0;
  Quantizer<T> nearest_;
};

template <class T>
Status quantize(Pool& pool, const QuantizeArguments& arguments) {
  const auto min = arguments.min.as<float>(), max = arguments.max.as<float>();
  std::vector<Step<T>> steps;
  for (size_t i = 0; i < arguments.slices.ranges; ++i) {
    if (max[i] < min[i])
      return invalid_argument("max_range is " + std::to_string(max[i]) +
                              "; it must not be less than min_range, which is " + std::to_string(min[i]));
    steps.emplace_back(arguments, widened({min[i], max[i]}, arguments.least));
    arguments.output_min->write<float>()[i] = steps.back().range().min;
    arguments.output_max->write<float>()[i] = steps.back().range().max;
  }
  const auto from = arguments.input.as<float>();
  const auto to = arguments.output.write<T>();
  for_each_run(pool, arguments, [&](size_t range, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = steps[range](from[i]);
  });
  return {};
}

Status compute_quantize(const QuantizeArguments& arguments, DeviceContext& device) {
  Status status;
  with_type(QuantizedTypes{}, arguments.output.dtype(),
            [&]<class T>(std::type_identity<T>) { status = quantize<T>(device.pool(), arguments); });
  return status;
}

/// x = (step + shift) * factor + offset.
struct Line {
  float shift, factor, offset;
};

template <class T>
Line line_of(const QuantizeArguments& arguments, FloatRange range) {
  const auto low = static_cast<float>(lowest_step<T>()), high = static_cast<float>(highest_step<T>());
  if (arguments.mode == Mode::Scaled) {
    const float lower = low + (arguments.narrow ? 1 : 0);
    return {0, lowest_step<T>() == 0 ? range.max / high : std::max(range.min / lower, range.max / high), 0};
  }
  return {-low, range.width() / (high - low), range.min};
}

template <class T, class Number>
void dequantize(Pool& pool, const QuantizeArguments& arguments) {
  const auto min = arguments.min.as<float>(), max = arguments.max.as<float>();
  const auto from = arguments.input.as<T>();
  const auto to = arguments.output.write<Number>();
  for_each_run(pool, arguments, [&](size_t range, size_t begin, size_t end) {
    const FloatRange floats{min[range], max[range]};
    if (arguments.mode == Mode::MinFirst) {
      const Dequantizer<T> value(floats);
      for (size_t i = begin; i < end; ++i) to[i] = Number(value(from[i]));
    } else {
      const Line line = line_of<T>(arguments, floats);
      for (size_t i = begin; i < end; ++i)
        to[i] = Number((static_cast<float>(from[i].value) + line.shift) * line.factor + line.offset);
    }
  });
}

void compute_dequantize(const QuantizeArguments& arguments, DeviceContext& device) {
  with_type(QuantizedTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    if (arguments.output.dtype() == f32)
      dequantize<T, float>(device.pool(), arguments);
    else
      dequantize<T, BFloat16>(device.pool(), arguments);
  });
}

OpDefBuilder with_attributes(OpDefBuilder op) {
  return op.attr(std::string("T: ") + quantized_types)
      .attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1");
}

}  // namespace

void add_quantize_ops(OpLibrary& library) {
  library.op(with_attributes(OpDefBuilder("QuantizeV2")
                                 .input("input: float")
                                 .input("min_range: float")
                                 .input("max_range: float")
                                 .output("output: T")
                                 .output("output_min: float")
                                 .output("output_max: float")
                                 .attr("round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = "
                                       "'HALF_AWAY_FROM_ZERO'")
                                 .attr("ensure_minimum_range: float = 0.01")
                                 .shape(quantize_shape)));
  library.kernel(cpu_kernel("QuantizeV2", check_quantize, compute_quantize));
  library.op(with_attributes(OpDefBuilder("Dequantize")
                                 .input("input: T")
                                 .input("min_range: float")
                                 .input("max_range: float")
                                 .output("output: dtype")
                                 .attr("dtype: {float, bfloat16} = float")
                                 .shape(dequantize_shape)));
  library.kernel(cpu_kernel("Dequantize", check_arguments, compute_dequantize));
}

}  // namespace troupe

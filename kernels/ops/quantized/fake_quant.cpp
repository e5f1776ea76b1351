// Rounding of floats as if they were stored in num_bits bits and read back:
//   FakeQuantWithMinMaxArgs(inputs)                       the range is in the attributes min < max
//   FakeQuantWithMinMaxVars(inputs, min, max)             min and max are scalars
//   FakeQuantWithMinMaxVarsPerChannel(inputs, min, max)   vectors with a range for each index of the last dimension
//   ..Gradient(gradients, inputs [, min, max])            gradients where the input is in the range, 0 elsewhere; of min (max)
//                                                         the sum of the gradients of inputs below (above) the range
// The range has 2^num_bits steps, one less with narrow_range, and is moved so that 0 is a step. If min and max are both 0,
// outputs are 0 and gradients pass. NaN stays NaN. Fails with InvalidArgument unless num_bits is in [2, 16]. The gradient is
// that of rounding as if it were the identity. Source: Jacob et al. 2018, "Quantization and Training of Neural Networks for
// Efficient Integer-Arithmetic-Only Inference", section 3.
#include "kernels/ops/quantized/fake_quant.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"

namespace troupe {
namespace {

// ---- Checks

Status check_fake_bits(const Node& node) {
  const auto bits = node.attrs.get<int64_t>("num_bits");
  if (bits >= 2 && bits <= 16) return {};
  return invalid_argument("num_bits is " + std::to_string(bits) + "; it must be in [2, 16]");
}

Status check_limits(const Node& node) {
  TROUPE_RETURN_IF_FAILED(check_fake_bits(node));
  if (!node.attrs.find("min")) return {};
  const auto min = node.attrs.get<float>("min"), max = node.attrs.get<float>("max");
  if (min < max) return {};
  return invalid_argument("min is " + std::to_string(min) + " and max is " + std::to_string(max) +
                          "; min must be less than max");
}

bool is_per_channel(const Node& node) { return node.type().find("PerChannel") != std::string::npos; }
bool is_gradient(const Node& node) { return node.type().ends_with("Gradient"); }

/// Outputs 1 and 2 of a gradient op have the shape of min and max.
Status fake_quant_shape(ShapeContext& context) {
  const Node& node = context.node();
  const size_t first = is_gradient(node) ? 1 : 0;
  PartialShape inputs = context.input(first);
  if (first == 1) {
    TROUPE_ASSIGN(inputs, merge(context.input(0), inputs));
  }
  if (context.inputs() > first + 1) {
    TROUPE_ASSIGN(PartialShape range, context.with_rank(first + 1, is_per_channel(node) ? 1 : 0));
    TROUPE_ASSIGN(range, merge(range, context.input(first + 2)));
    if (is_per_channel(node) && inputs.known_rank()) {
      if (inputs.rank() == 0)
        return invalid_argument("inputs is a scalar; it must have at least one dimension");
      TROUPE_ASSIGN(range, merge(range, PartialShape{inputs.dims().back()}));
    }
    if (first == 1)
      for (const size_t i : {1, 2}) context.set_output(i, range);
  }
  context.set_output(0, std::move(inputs));
  return {};
}

Status check_fake_ranges(const Node& node, const Tensor& inputs, const Tensor& min, const Tensor& max) {
  const Shape& shape = inputs.shape();
  if (is_per_channel(node) && shape.is_scalar())
    return invalid_argument("inputs is a scalar; it must have at least one dimension");
  const Shape wanted = is_per_channel(node) ? Shape::vector(shape.dims().back()) : Shape();
  if (min.shape() == wanted && max.shape() == wanted) return {};
  return invalid_argument("min has shape " + min.shape().text() + " and max has shape " + max.shape().text() +
                          "; both must have shape " + wanted.text());
}

// ---- Ranges

/// The ranges of the elements of a row.
struct Ranges {
  std::vector<float> low, high, scale;
  std::vector<float> passes;  ///< 1 or 0

  size_t size() const { return low.size(); }
  void add(const QuantRange& range) {
    low.push_back(range.low);
    high.push_back(range.high);
    scale.push_back(range.step);
    passes.push_back(range.passes ? 1 : 0);
  }
};

/// Returns the ranges of the channels. One range for all elements becomes that of some equal channels, so that the loops over
/// channels are long.
Ranges fake_ranges(const FakeQuantArguments& arguments) {
  constexpr size_t lanes = 256;
  Ranges ranges;
  if (arguments.min && !arguments.min->shape().is_scalar()) {
    const auto min = arguments.min->as<float>(), max = arguments.max->as<float>();
    for (size_t i = 0; i < min.size(); ++i) ranges.add(QuantRange::of(min[i], max[i], arguments.steps));
    return ranges;
  }
  const float min = arguments.min ? arguments.min->as<float>()[0] : arguments.low;
  const float max = arguments.max ? arguments.max->as<float>()[0] : arguments.high;
  for (size_t i = 0; i < lanes; ++i) ranges.add(QuantRange::of(min, max, arguments.steps));
  return ranges;
}

/// Calls visit(first, count) for the rows in [begin, end) of n elements; the last row may be shorter.
template <class Visit>
void for_each_row(size_t begin, size_t end, size_t width, size_t n, const Visit& visit) {
  for (size_t row = begin; row < end; ++row) visit(row * width, std::min(width, n - row * width));
}

void round_row(const Ranges& ranges, const float* x, float* y, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i)
    y[i] = QuantRange::rounded(x[i], ranges.low[i], ranges.high[i], ranges.scale[i]);
}

void compute_fake_quant(const FakeQuantArguments& arguments, DeviceContext& device) {
  const auto x = arguments.inputs.as<float>();
  if (x.empty()) return;
  const Ranges ranges = fake_ranges(arguments);
  const size_t n = x.size(), width = ranges.size();
  float* const y = arguments.outputs[0]->write<float>().data();
  parallel_rows(device.pool(), (n - 1) / width + 1, 8 * width * sizeof(float), [&](size_t begin, size_t end) {
    for_each_row(begin, end, width, n,
                 [&](size_t at, size_t count) { round_row(ranges, x.data() + at, y + at, count); });
  });
}

// ---- Gradients

/// The sums of the gradients outside the range, for each channel.
struct Outside {
  std::vector<double> below, above;
  explicit Outside(size_t channels) : below(channels), above(channels) {}
};

void gradient_row(const Ranges& ranges, const float* dy, const float* x, float* dx, size_t count,
                  Outside& outside) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const bool passes = ranges.passes[i] != 0;
    const bool below = x[i]<ranges.low[i], above = x[i]> ranges.high[i];
    const bool inside = x[i] >= ranges.low[i] && x[i] <= ranges.high[i];
    dx[i] = passes || inside ? dy[i] : 0.0F;
    outside.below[i] += below && !passes ? static_cast<double>(dy[i]) : 0.0;
    outside.above[i] += above && !passes ? static_cast<double>(dy[i]) : 0.0;
  }
}

/// Adds the sums of the blocks, in their order, to each channel of `to`, which is a scalar if there is one range.
void write_sums(const std::vector<Outside>& blocks, std::vector<double> Outside::*part, Tensor& to) {
  const auto values = to.write<float>();
  std::vector<double> sums(values.size());
  for (const Outside& block : blocks)
    for (size_t i = 0; i < (block.*part).size(); ++i) sums[values.size() == 1 ? 0 : i] += (block.*part)[i];
  std::ranges::transform(sums, values.begin(), [](double sum) { return static_cast<float>(sum); });
}

void compute_fake_quant_gradient(const FakeQuantArguments& arguments, DeviceContext& device) {
  const auto x = arguments.inputs.as<float>(), dy = arguments.gradients->as<float>();
  const Ranges ranges = fake_ranges(arguments);
  const size_t n = x.size(), width = std::max<size_t>(ranges.size(), 1);
  const size_t rows = n == 0 ? 0 : (n - 1) / width + 1;
  const size_t block = std::max<size_t>(65536 / width, 1);
  std::vector<Outside> blocks((rows + block - 1) / block, Outside(width));
  float* const dx = arguments.outputs[0]->write<float>().data();
  device.pool().blocks(rows, block, [&](size_t begin, size_t end) {
    Outside& outside = blocks[begin / block];
    for_each_row(begin, end, width, n, [&](size_t at, size_t count) {
      gradient_row(ranges, dy.data() + at, x.data() + at, dx + at, count, outside);
    });
  });
  if (arguments.outputs.size() == 1) return;
  write_sums(blocks, &Outside::below, *arguments.outputs[1]);
  write_sums(blocks, &Outside::above, *arguments.outputs[2]);
}

// ---- Definitions

void fake_quant_gradient(GradientContext& context) {
  Attributes attrs;
  for (const char* attr : {"num_bits", "narrow_range", "min", "max"})
    if (const AttrValue* const value = context.node().attrs.find(attr)) attrs.set(attr, *value);
  std::vector<Output> inputs{context.gradient()};
  const size_t count = context.node().inputs.size();
  for (size_t i = 0; i < count; ++i) inputs.push_back(context.input(i));
  const NodeId node = context.scope().add(context.node().type() + "Gradient", inputs, attrs);
  for (uint32_t i = 0; i < count; ++i) context.set(i, Output{node, i});
}

/// Adds what the ops share: ranges that are inputs, or attributes.
OpDefBuilder with_range(OpDefBuilder op, bool has_inputs) {
  if (has_inputs)
    op.input("min: float").input("max: float");
  else
    op.attr("min: float = -6").attr("max: float = 6");
  return op.attr("num_bits: int = 8").attr("narrow_range: bool = false").shape(fake_quant_shape);
}

void add_pair(OpLibrary& library, const std::string& name, bool has_inputs) {
  OpDefBuilder forward(name), backward(name + "Gradient");
  forward.input("inputs: float").output("outputs: float").gradient(fake_quant_gradient);
  backward.input("gradients: float").input("inputs: float").not_differentiable();
  if (has_inputs)
    backward.output("backprops_wrt_input: float")
        .output("backprop_wrt_min: float")
        .output("backprop_wrt_max: float");
  else
    backward.output("backprops: float");
  library.op(with_range(forward, has_inputs));
  library.op(with_range(backward, has_inputs));
  library.kernel(cpu_kernel(name, check_fake_quant, compute_fake_quant));
  library.kernel(cpu_kernel(name + "Gradient", check_fake_quant, compute_fake_quant_gradient));
}

}  // namespace

Result<FakeQuantArguments> check_fake_quant(KernelContext& context) {
  const Node& node = context.node();
  TROUPE_RETURN_IF_FAILED(check_limits(node));
  const size_t first = is_gradient(node) ? 1 : 0;
  const Tensor& inputs = context.input(first);
  if (!(context.input(0).shape() == inputs.shape()))
    return invalid_argument("gradients has shape " + context.input(0).shape().text() +
                            " and inputs has shape " + inputs.shape().text() +
                            "; they must have the same shape");
  const float steps = std::ldexp(1.0F, static_cast<int>(node.attrs.get<int64_t>("num_bits"))) -
                      (node.attrs.get<bool>("narrow_range") ? 2.0F : 1.0F);
  FakeQuantArguments arguments{
      first ? &context.input(0) : nullptr, inputs, nullptr, nullptr, 0, 0, steps, {}};
  if (context.inputs() > first + 1) {
    arguments.min = &context.input(first + 1);
    arguments.max = &context.input(first + 2);
    TROUPE_RETURN_IF_FAILED(check_fake_ranges(node, inputs, *arguments.min, *arguments.max));
  } else {
    arguments.low = node.attrs.get<float>("min");
    arguments.high = node.attrs.get<float>("max");
  }
  for (size_t i = 0; i < node.output_types.size(); ++i) {
    TROUPE_ASSIGN(Tensor* const output, context.output(i, i == 0 ? inputs.shape() : arguments.min->shape()));
    arguments.outputs.push_back(output);
  }
  return arguments;
}

void add_fake_quant_ops(OpLibrary& library) {
  add_pair(library, "FakeQuantWithMinMaxArgs", false);
  add_pair(library, "FakeQuantWithMinMaxVars", true);
  add_pair(library, "FakeQuantWithMinMaxVarsPerChannel", true);
}

}  // namespace troupe

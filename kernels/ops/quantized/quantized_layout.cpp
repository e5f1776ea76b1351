// Quantised tensors moved.
//   QuantizedReshape(tensor, shape, input_min, input_max)              as Reshape; the range stays the same
//   QuantizedConcat(concat_dim, values, input_mins, input_maxes)       as Concat, in the range that holds all of theirs and 0; for
//                                                                      signed types it is symmetrical. quint8 or qint32
// Outputs 1 and 2 are the range. Fails with InvalidArgument as Reshape and Concat do, and for ranges that are not one float each.
// Source: tensorflow/core/kernels/quantized_reshape_op.cc, quantized_concat_op.cc.
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/array/copies.h"
#include "kernels/ops/array/reshape.h"
#include "kernels/ops/quantized/quantization.h"

namespace troupe {
namespace {

using JoinedTypes = TypeList<QUInt8, QInt32>;

// ---- QuantizedReshape

Status reshape_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  const auto wanted = context.constant_integers(1);
  PartialShape shape;
  if (wanted && context.input(0).fully_known()) {
    TROUPE_ASSIGN(const Dims dims, resolved_dims(*wanted, context.input(0).dims()));
    shape = partial(dims);
  }
  return quantized_shape(context, std::move(shape), 2);
}

Status run_reshape(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_range_shapes(context, 2));
  TROUPE_ASSIGN(const Dims wanted, integer_vector(context.input(1), "shape"));
  TROUPE_ASSIGN(const Dims dims, resolved_dims(wanted, context.input(0).shape().dims()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.input(0).dtype()));
  context.set_output(0, context.input(0).reshaped(shape));
  for (const size_t i : {1, 2}) context.set_output(i, context.input(i + 1).reshaped(Shape()));
  return {};
}

// ---- QuantizedConcat

struct QuantizedConcatArguments {
  ConcatArguments concat;
  std::span<const Slot> mins, maxes;  ///< one float for each value
  RangeOutput range;
};

Result<QuantizedConcatArguments> check_quantized_concat(KernelContext& context) {
  TROUPE_ASSIGN(const ConcatArguments concat, check_concat(context));
  const size_t count = concat.values.size();
  const auto mins = context.input_slots(1 + count, count), maxes = context.input_slots(1 + 2 * count, count);
  for (size_t i = 0; i < count; ++i)
    if (mins[i].tensor.elements() != 1 || maxes[i].tensor.elements() != 1)
      return invalid_argument("the range of value " + std::to_string(i) + " has shapes " +
                              mins[i].tensor.shape().text() + " and " + maxes[i].tensor.shape().text() +
                              "; both must have one element");
  TROUPE_ASSIGN(const RangeOutput range, range_output(context));
  return QuantizedConcatArguments{concat, mins, maxes, range};
}

template <class T>
FloatRange common_range(const QuantizedConcatArguments& arguments) {
  FloatRange range{0, std::numeric_limits<float>::lowest()};
  for (size_t i = 0; i < arguments.mins.size(); ++i) {
    const FloatRange one = range_of(arguments.mins[i].tensor, arguments.maxes[i].tensor);
    range = {std::min(range.min, one.min), std::max(range.max, one.max)};
  }
  if (lowest_step<T>() == 0) return range;
  const float most = std::max(std::abs(range.min), std::abs(range.max));
  return {-most, most};
}

/// Writes the steps of a value to its part of each row of the output, `at` elements after the beginning of the row.
template <class T>
void join_value(Pool& pool, const QuantizedConcatArguments& arguments, size_t number, FloatRange range,
                size_t at) {
  const FloatRange from_range = range_of(arguments.mins[number].tensor, arguments.maxes[number].tensor);
  const bool same = from_range.min == range.min && from_range.max == range.max;
  const Dequantizer<T> value(from_range);
  const Quantizer<T> step(range);
  const auto from = arguments.concat.values[number].tensor.as<T>();
  const auto to = arguments.concat.output.write<T>();
  const size_t rows = arguments.concat.rows, width = from.size() / rows, stride = to.size() / rows;
  parallel_items(pool, from.size(), 4 * sizeof(T), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      to[i / width * stride + at + i % width] = same ? from[i] : step(value(from[i]));
  });
}

void compute_quantized_concat(const QuantizedConcatArguments& arguments, DeviceContext& device) {
  with_type(JoinedTypes{}, arguments.concat.output.dtype(), [&]<class T>(std::type_identity<T>) {
    const FloatRange range = common_range<T>(arguments);
    arguments.range.write(range);
    if (arguments.concat.output.elements() == 0) return;
    size_t at = 0;
    for (size_t i = 0; i < arguments.mins.size(); ++i) {
      join_value<T>(device.pool(), arguments, i, range, at);
      at += static_cast<size_t>(arguments.concat.values[i].tensor.elements()) / arguments.concat.rows;
    }
  });
}

Status quantized_concat_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(concat_shape(context));
  for (const size_t i : {1, 2}) context.set_output(i, PartialShape::scalar());
  return {};
}

}  // namespace

void add_quantized_layout(OpLibrary& library) {
  library.op(OpDefBuilder("QuantizedReshape")
                 .input("tensor: T")
                 .host_input("shape: Tshape")
                 .input("input_min: float")
                 .input("input_max: float")
                 .output("output: T")
                 .output("output_min: float")
                 .output("output_max: float")
                 .attr("T: type")
                 .attr("Tshape: {int32, int64} = int32")
                 .shape(reshape_shape));
  library.kernel(host_kernel("QuantizedReshape", run_reshape).inexpensive());
  library.op(OpDefBuilder("QuantizedConcat")
                 .host_input("concat_dim: int32")
                 .input("values: N * T")
                 .input("input_mins: N * float")
                 .input("input_maxes: N * float")
                 .output("output: T")
                 .output("output_min: float")
                 .output("output_max: float")
                 .attr("N: int >= 2")
                 .attr("T: type")
                 .shape(quantized_concat_shape));
  library.kernel(cpu_kernel("QuantizedConcat", check_quantized_concat, compute_quantized_concat)
                     .on("T", dtypes(JoinedTypes{})));
}

}  // namespace troupe

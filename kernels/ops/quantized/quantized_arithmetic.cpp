// Sums and products of quantised tensors of 8 bits, as qint32. Shapes broadcast as in NumPy.
//   QuantizedAdd(x, y, min_x, max_x, min_y, max_y)       the steps of x and y in a range 2^14 times that of the greater one, added
//   QuantizedMul(x, y, min_x, max_x, min_y, max_y)       the products of the distances of x and y from the step of 0
//   QuantizedBiasAdd(input, bias, min_input, ...)        as QuantizedAdd with a range 2^17 times as great; bias is a vector for the
//                                                        last dimension
// Outputs 1 and 2 are the range. Fails with InvalidArgument for shapes that do not broadcast, and, but for QuantizedBiasAdd, for an
// empty range. Source: tensorflow/core/kernels/quantized_add_op.cc, quantized_mul_op.cc, quantized_bias_add_op.cc.
#include <array>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/broadcast.h"
#include "kernels/ops/quantized/quantization.h"

namespace troupe {
namespace {

using ByteTypes = TypeList<QUInt8, QInt8>;

/// What each step of 8 bits becomes, by its bits.
using StepTable = std::array<int32_t, 256>;

template <class T, class Function>
StepTable table_of(const Function& function) {
  StepTable table;
  for (size_t i = 0; i < table.size(); ++i) table[i] = function(T{static_cast<StorageOf<T>>(i)});
  return table;
}

struct ArithmeticArguments {
  const Tensor &x, &y, &min_x, &max_x, &min_y, &max_y;
  Tensor& output;
  RangeOutput range;
  Broadcast<2> shapes;
};

Result<ArithmeticArguments> check_arithmetic(KernelContext& context) {
  const Tensor &x = context.input(0), &y = context.input(1);
  for (const size_t i : {2, 4}) TROUPE_RETURN_IF_FAILED(check_range_shapes(context, i));
  TROUPE_ASSIGN(Broadcast<2> shapes, Broadcast<2>::make({x.shape().dims(), y.shape().dims()}, DType::QInt32));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shapes.shape()));
  TROUPE_ASSIGN(const RangeOutput range, range_output(context));
  return ArithmeticArguments{
      x,       y,     context.input(2), context.input(3), context.input(4), context.input(5),
      *output, range, std::move(shapes)};
}

Status check_bias(const PartialShape& input, const PartialShape& bias) {
  if (!input.known_rank() || !bias.known_rank()) return {};
  if (input.rank() >= 1 && bias.rank() == 1 && bias.compatible_with(PartialShape{input.dims().back()}))
    return {};
  return invalid_argument("input has shape " + input.text() + " and bias has shape " + bias.text() +
                          "; bias must be a vector of the size of the last dimension of input");
}

Result<ArithmeticArguments> check_bias_add(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_bias(context.input(0).shape(), context.input(1).shape()));
  return check_arithmetic(context);
}

/// Computes every output as combine(a[x], b[y]), modulo 2^32.
template <class Combine>
void combine_steps(Pool& pool, const ArithmeticArguments& arguments, const StepTable& a, const StepTable& b,
                   const Combine& combine) {
  const auto* const x = reinterpret_cast<const uint8_t*>(arguments.x.data());
  const auto* const y = reinterpret_cast<const uint8_t*>(arguments.y.data());
  const auto output = arguments.output.write<QInt32>();
  const auto& inner = arguments.shapes.inner().steps;
  parallel_items(pool, output.size(), 8, [&](size_t begin, size_t end) {
    arguments.shapes.walk(begin, end, [&](const std::array<size_t, 2>& offsets, size_t to, size_t n) {
      for (size_t i = 0; i < n; ++i) {
        const auto left = static_cast<uint32_t>(a[x[offsets[0] + i * inner[0]]]);
        const auto right = static_cast<uint32_t>(b[y[offsets[1] + i * inner[1]]]);
        output[to + i].value = static_cast<int32_t>(combine(left, right));
      }
    });
  });
}

constexpr auto sum = [](uint32_t a, uint32_t b) { return a + b; };
constexpr auto product_of = [](uint32_t a, uint32_t b) { return a * b; };

/// Returns the range of both sides, symmetrical around 0 and so many times as great.
FloatRange wide_range(FloatRange x, FloatRange y, float factor) {
  const float most = std::max(std::max(x.max, -x.min), std::max(y.max, -y.min)) * factor;
  return {-most, most};
}

Status check_both(FloatRange x, FloatRange y) {
  TROUPE_RETURN_IF_FAILED(check_order(x, "x"));
  return check_order(y, "y");
}

Status compute_add(const ArithmeticArguments& arguments, DeviceContext& device) {
  const FloatRange x = range_of(arguments.min_x, arguments.max_x),
                   y = range_of(arguments.min_y, arguments.max_y);
  TROUPE_RETURN_IF_FAILED(check_both(x, y));
  const float most = std::max(std::abs(std::min(x.min, y.min)), std::abs(std::max(x.max, y.max))) * (1 << 14);
  const FloatRange range{-most, most};
  // As in TensorFlow, which rounds each step of a tensor to a multiple of the second one, but not that of a scalar.
  const auto table = [&](const Tensor& tensor, FloatRange from) {
    const auto step = [&](QUInt8 of) { return unclamped_step<QInt32>(value_of(of, from), range); };
    const double first = step({0}), width = step({1}) - first;
    return table_of<QUInt8>([&](QUInt8 of) {
      return clamped_step<QInt32>(tensor.elements() == 1 ? step(of) : first + of.value * width).value;
    });
  };
  combine_steps(device.pool(), arguments, table(arguments.x, x), table(arguments.y, y), sum);
  arguments.range.write(range);
  return {};
}

Status compute_mul(const ArithmeticArguments& arguments, DeviceContext& device) {
  const FloatRange x = range_of(arguments.min_x, arguments.max_x),
                   y = range_of(arguments.min_y, arguments.max_y);
  TROUPE_RETURN_IF_FAILED(check_both(x, y));
  const auto table = [&](FloatRange from) {
    const auto zero = clamped_step<QInt32>(unclamped_step<QUInt8>(0, from));
    return table_of<QUInt8>([&](QUInt8 step) { return Sub::apply<int32_t>(step.value, zero.value); });
  };
  combine_steps(device.pool(), arguments, table(x), table(y), product_of);
  arguments.range.write(product_range<QUInt8, QUInt8, QInt32>(x, y));
  return {};
}

void compute_bias_add(const ArithmeticArguments& arguments, DeviceContext& device) {
  const FloatRange x = range_of(arguments.min_x, arguments.max_x),
                   y = range_of(arguments.min_y, arguments.max_y);
  const FloatRange range = wide_range(x, y, 1 << 17);
  const Quantizer<QInt32> step_of(range);
  const auto zero = static_cast<uint32_t>(nearest_step<QInt32>(0, range).value);
  with_type(ByteTypes{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto table = [&](FloatRange from) {
      const Dequantizer<T> value(from);
      return table_of<T>([&](T step) { return step_of(value(step)).value; });
    };
    combine_steps(device.pool(), arguments, table(x), table(y),
                  [&](uint32_t a, uint32_t b) { return a + b + zero; });
  });
  arguments.range.write(range);
}

Status arithmetic_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, broadcast(context.input(0), context.input(1)));
  return quantized_shape(context, std::move(shape), 2);
}

Status bias_add_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_bias(context.input(0), context.input(1)));
  return quantized_shape(context, context.input(0), 2);
}

OpDefBuilder arithmetic_op(const char* name, const char* x, const char* y, const char* output,
                           const char* out_type) {
  const std::string types = quantized_types;
  OpDefBuilder op(name);
  op.input(std::string(x) + ": T1").input(std::string(y) + ": T2");
  for (const char* of : {x, y})
    for (const char* end : {"min_", "max_"}) op.input(end + std::string(of) + ": float");
  return op.output(std::string(output) + ": " + out_type)
      .output(std::string("min_") + (*output == 'z' ? "z" : "out") + ": float")
      .output(std::string("max_") + (*output == 'z' ? "z" : "out") + ": float")
      .attr("T1: " + types)
      .attr("T2: " + types)
      .attr(out_type + (": " + types) + (*output == 'z' ? " = qint32" : ""));
}

}  // namespace

void add_quantized_arithmetic(OpLibrary& library) {
  for (const char* name : {"QuantizedAdd", "QuantizedMul"})
    library.op(arithmetic_op(name, "x", "y", "z", "Toutput").commutative().shape(arithmetic_shape));
  library.op(arithmetic_op("QuantizedBiasAdd", "input", "bias", "output", "out_type").shape(bias_add_shape));
  const auto on_bytes = [&](KernelDef kernel, const char* output, DType bytes) {
    library.kernel(std::move(kernel).on("T1", {bytes}).on("T2", {bytes}).on(output, {DType::QInt32}));
  };
  on_bytes(cpu_kernel("QuantizedAdd", check_arithmetic, compute_add), "Toutput", DType::QUInt8);
  on_bytes(cpu_kernel("QuantizedMul", check_arithmetic, compute_mul), "Toutput", DType::QUInt8);
  for (const DType bytes : {DType::QUInt8, DType::QInt8})
    on_bytes(cpu_kernel("QuantizedBiasAdd", check_bias_add, compute_bias_add), "out_type", bytes);
}

}  // namespace troupe

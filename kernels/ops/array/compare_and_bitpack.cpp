// CompareAndBitpack(input, threshold): whether each element is greater than the threshold, a scalar, as bits: each eight elements
// along the last dimension, whose size is a multiple of 8, become a byte, of which the first is the highest bit. A bool is its own
// bit, whatever the threshold is, as in TensorFlow. A NaN is not greater. Bool, half, float, double and signed integers.
#include <type_traits>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using BitpackTypes = TypeList<bool, Half, float, double, int8_t, int16_t, int32_t, int64_t>;

constexpr int bits = 8;

/// The dimensions of the output; unknown ones stay unknown.
Result<Dims> packed_dims(std::span<const int64_t> input) {
  if (input.empty()) return invalid_argument("input is a scalar; it must have a dimension at least");
  Dims dims(input);
  if (dims.back() == unknown_dim) return dims;
  if (dims.back() % bits != 0)
    return invalid_argument("input of shape " + partial(input).text() +
                            ": the size of the last dimension must be a multiple of 8");
  dims.back() /= bits;
  return dims;
}

Status bitpack_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  TROUPE_ASSIGN(const Dims dims, packed_dims(input.dims()));
  context.set_output(0, partial(dims));
  return {};
}

struct BitpackArguments {
  const Tensor &input, &threshold;
  Tensor& output;
};

Result<BitpackArguments> check_bitpack(KernelContext& context) {
  const Tensor &input = context.input(0), &threshold = context.input(1);
  if (!threshold.shape().is_scalar())
    return invalid_argument("threshold of shape " + threshold.shape().text() + " is not a scalar");
  TROUPE_ASSIGN(const Dims dims, packed_dims(input.shape().dims()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::UInt8));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return BitpackArguments{input, threshold, *output};
}

template <class T>
bool is_greater(const T& value, const T& threshold) {
  if constexpr (std::is_same_v<T, bool>)
    return value;
  else
    return static_cast<ComputeType<T>>(value) > static_cast<ComputeType<T>>(threshold);
}

void compute_bitpack(const BitpackArguments& arguments, DeviceContext& device) {
  with_type(BitpackTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const from = arguments.input.as<T>().data();
    const T threshold = arguments.threshold.item<T>();
    const auto to = arguments.output.write<uint8_t>();
    parallel_items(device.pool(), to.size(), bits * sizeof(T), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        unsigned byte = 0;
        for (size_t j = 0; j < bits; ++j)
          byte = byte << 1 | (is_greater(from[i * bits + j], threshold) ? 1 : 0);
        to[i] = static_cast<uint8_t>(byte);
      }
    });
  });
}

}  // namespace

void add_compare_and_bitpack(OpLibrary& library) {
  library.op(OpDefBuilder("CompareAndBitpack")
                 .input("input: T")
                 .input("threshold: T")
                 .output("output: uint8")
                 .attr("T: {bool, half, float, double, int8, int16, int32, int64}")
                 .constructor("compare_and_bitpack(input, threshold)")
                 .shape(bitpack_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("CompareAndBitpack", check_bitpack, compute_bitpack));
}

}  // namespace troupe

// Bitcast(input): the same bytes as elements of another type. When that type is smaller the result has one more dimension, which
// counts the new elements in an old one; when it is larger, the last dimension of the input must count the old elements in a new
// one, and goes.
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

/// The dimensions of the result; unknown ones stay unknown.
Result<Dims> bitcast_dims(std::span<const int64_t> dims, DType from, DType to) {
  const auto from_size = static_cast<int64_t>(size_of(from)), to_size = static_cast<int64_t>(size_of(to));
  if (from_size == to_size) return Dims(dims);
  if (from_size > to_size) return Dims(dims).with(dims.size(), from_size / to_size);
  const int64_t count = to_size / from_size;
  if (dims.empty() || (dims.back() != count && dims.back() != unknown_dim))
    return invalid_argument(std::string(name(from)) + " of shape " + partial(dims).text() + " is no " +
                            std::string(name(to)) + ": the last dimension must be " + std::to_string(count));
  return Dims(dims.first(dims.size() - 1));
}

Status bitcast_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  TROUPE_ASSIGN(const Dims dims,
                bitcast_dims(input.dims(), context.input_dtype(0), context.attr<DType>("type")));
  context.set_output(0, partial(dims));
  return {};
}

Status run_bitcast(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto type = context.node().attrs.get<DType>("type");
  TROUPE_ASSIGN(const Dims dims, bitcast_dims(input.shape().dims(), input.dtype(), type));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, type));
  Tensor output(type, shape, input.buffer(), static_cast<size_t>(input.data() - input.buffer()->data));
  output.set_completion(input.completion());
  context.set_output(0, std::move(output));
  return {};
}

}  // namespace

void add_bitcast(OpLibrary& library) {
  const std::string types =
      "{half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, complex64, "
      "complex128, qint8, "
      "quint8, qint16, quint16, qint32}";
  library.op(OpDefBuilder("Bitcast")
                 .input("input: T")
                 .output("output: type")
                 .attr("T: " + types)
                 .attr("type: " + types)
                 .constructor("bitcast(input, type)")
                 .shape(bitcast_shape));
  library.kernel(host_kernel("Bitcast", run_bitcast).inexpensive());
}

}  // namespace troupe

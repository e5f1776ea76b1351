// Where(input): the positions of all elements that are not zero (or are true), in row-major order: row i of the result holds
// the coordinates of the i-th of these elements. A NaN is not zero.
#include "kernels/ops/array/where.h"

#include <algorithm>
#include <numeric>

#include "graph/build/shape_context.h"
#include "kernels/core/dims.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

template <class T>
bool holds(const T& value) {
  return static_cast<ComputeType<T>>(value) != ComputeType<T>{};
}

Status where_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  const int64_t rank = input.known_rank() ? static_cast<int64_t>(input.rank()) : unknown_dim;
  int64_t count = unknown_dim;
  if (const Tensor* const values = context.constant(0))
    with_type(PlainTypes{}, values->dtype(), [&]<class T>(std::type_identity<T>) {
      count = std::ranges::count_if(values->as<T>(), holds<T>);
    });
  context.set_output(0, PartialShape{count, rank});
  return {};
}

/// Coordinates that iterate over a shape, the last one fastest.
class Coordinates {
 public:
  Coordinates(const Shape& shape, size_t position) : dims_(shape.dims()), at_(shape.rank(), 0) {
    for (size_t i = dims_.size(); i-- > 0;) {
      const auto dim = static_cast<size_t>(dims_[i]);
      at_[i] = static_cast<int64_t>(position % dim);
      position /= dim;
    }
  }
  const Dims& at() const { return at_; }
  void advance() {
    for (size_t i = dims_.size(); i-- > 0;) {
      if (++at_[i] < dims_[i]) return;
      at_[i] = 0;
    }
  }

 private:
  std::span<const int64_t> dims_;
  Dims at_;
};

/// Counts the elements that are not zero in every block; `scratch` becomes the number before each block, and the total.
template <class T>
Status count_held(WhereArguments& arguments, DeviceContext& device) {
  const std::span<const T> values = arguments.input.as<T>();
  const size_t block = items_per_block(sizeof(T)), blocks = (values.size() + block - 1) / block;
  TROUPE_ASSIGN(
      arguments.scratch,
      Tensor::allocate(DType::Int64, Shape::vector(static_cast<int64_t>(blocks) + 1), device.memory()));
  const std::span<int64_t> before = arguments.scratch.write<int64_t>();
  before[0] = 0;
  device.pool().blocks(values.size(), block, [&](size_t begin, size_t end) {
    before[begin / block + 1] = std::ranges::count_if(values.subspan(begin, end - begin), holds<T>);
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  arguments.count = before.back();
  return {};
}

Status measure_where(WhereArguments& arguments, DeviceContext& device) {
  Status status;
  with_type(PlainTypes{}, arguments.input.dtype(),
            [&]<class T>(std::type_identity<T>) { status = count_held<T>(arguments, device); });
  return status;
}

template <class T>
void write_positions(const WhereArguments& arguments, Pool& pool) {
  const std::span<const T> values = arguments.input.as<T>();
  const Shape& shape = arguments.input.shape();
  const size_t block = items_per_block(sizeof(T));
  const std::span<const int64_t> before = arguments.scratch.as<int64_t>();
  int64_t* const out = arguments.index->write<int64_t>().data();
  pool.blocks(values.size(), block, [&](size_t begin, size_t end) {
    Coordinates coordinates(shape, begin);
    int64_t* to = out + before[begin / block] * static_cast<int64_t>(shape.rank());
    for (size_t i = begin; i < end; ++i, coordinates.advance())
      if (holds(values[i])) to = std::ranges::copy(coordinates.at(), to).out;
  });
}

void compute_where(const WhereArguments& arguments, DeviceContext& device) {
  with_type(PlainTypes{}, arguments.input.dtype(),
            [&]<class T>(std::type_identity<T>) { write_positions<T>(arguments, device.pool()); });
}

}  // namespace

Result<WhereArguments> check_where(KernelContext& context) { return WhereArguments{context.input(0)}; }

Status allocate_where(WhereArguments& arguments, KernelContext& context) {
  const Dims dims{arguments.count, static_cast<int64_t>(arguments.input.shape().rank())};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::Int64));
  TROUPE_ASSIGN(arguments.index, context.output(0, shape));
  return {};
}

void add_where(OpLibrary& library) {
  library.op(OpDefBuilder("Where")
                 .input("input: T")
                 .output("index: int64")
                 .attr("T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
                       "uint64, complex64, "
                       "complex128, bool} = bool")
                 .constructor("nonzero(input)")
                 .shape(where_shape)
                 .not_differentiable());
  library.kernel(measured_cpu_kernel("Where", check_where, measure_where, allocate_where, compute_where));
}

}  // namespace troupe

// Where(input): the positions of all elements that are not zero (or are true), in row-major order: row i of the result holds the
// coordinates of the i-th. A NaN is not zero.
#include <algorithm>

#include "graph/build/shape_context.h"
#include "kernels/core/dims.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/all_ops.h"

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

/// Coordinates that count through a shape, the last one fastest.
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

template <class T>
Status where(KernelContext& context, const Tensor& input) {
  const std::span<const T> values = input.as<T>();
  const size_t block = items_per_block(sizeof(T)), rank = input.shape().rank();
  Pool& pool = context.device().pool();
  std::vector<size_t> before(values.size() / block + 2, 0);  // how many hold before block i
  pool.blocks(values.size(), block, [&](size_t begin, size_t end) {
    before[begin / block + 1] =
        static_cast<size_t>(std::count_if(values.begin() + static_cast<ptrdiff_t>(begin),
                                          values.begin() + static_cast<ptrdiff_t>(end), holds<T>));
  });
  for (size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  const Dims dims{static_cast<int64_t>(before.back()), static_cast<int64_t>(rank)};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::Int64));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  int64_t* const out = output->write<int64_t>().data();
  pool.blocks(values.size(), block, [&](size_t begin, size_t end) {
    Coordinates coordinates(input.shape(), begin);
    int64_t* to = out + before[begin / block] * rank;
    for (size_t i = begin; i < end; ++i, coordinates.advance())
      if (holds(values[i])) to = std::ranges::copy(coordinates.at(), to).out;
  });
  return {};
}

Status run_where(KernelContext& context) {
  Status status;
  with_type(PlainTypes{}, context.input(0).dtype(),
            [&]<class T>(std::type_identity<T>) { status = where<T>(context, context.input(0)); });
  return status;
}

}  // namespace

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
  library.kernel(cpu_kernel("Where", run_where));
}

}  // namespace troupe

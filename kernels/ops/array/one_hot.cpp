// OneHot(indices, depth, on_value, off_value): adds a dimension of size `depth` at `axis` of the result (-1: the last). The
// result is on_value where the position along that dimension equals the index, and off_value elsewhere. For an index outside
// [0, depth) all values are off_value.
#include "kernels/ops/array/one_hot.h"

#include <utility>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

using IndexTypes = TypeList<uint8_t, int8_t, int32_t, int64_t>;

Status check_depth(int64_t depth) {
  return depth >= 0 ? Status{}
                    : invalid_argument("depth is " + std::to_string(depth) + "; it must not be negative");
}

Status one_hot_shape(ShapeContext& context) {
  for (size_t i = 1; i < 4; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  const PartialShape& indices = context.input(0);
  const auto depth = constant_integer(context, 1);
  if (depth) TROUPE_RETURN_IF_FAILED(check_depth(*depth));
  if (!indices.known_rank()) return {};
  TROUPE_ASSIGN(const size_t axis, resolve_axis(context.attr<int64_t>("axis"), indices.rank() + 1));
  context.set_output(0, partial(Dims(indices.dims()).with(axis, depth.value_or(unknown_dim))));
  return {};
}

/// The indices, `inner` of them for each block of `depth` rows of the result, and the result.
template <class Index, class T>
struct OneHot {
  const Index* indices;
  size_t inner, depth;
  const T &on, &off;
  T* out;

  /// Computes rows of the result; each row is for one position along the new dimension and all inner indices.
  void write_rows(size_t begin, size_t end) const {
    for (size_t row = begin; row < end; ++row) {
      const Index* const from = indices + row / depth * inner;
      for (size_t i = 0; i < inner; ++i)
        out[row * inner + i] = std::cmp_equal(from[i], row % depth) ? on : off;
    }
  }
  /// For inner = 1: computes lines of `depth` values, of which one is the on value.
  void write_lines(size_t begin, size_t end) const {
    std::fill(out + begin * depth, out + end * depth, off);
    for (size_t i = begin; i < end; ++i)
      if (std::cmp_greater_equal(indices[i], 0) && std::cmp_less(indices[i], depth))
        out[i * depth + static_cast<size_t>(indices[i])] = on;
  }
};

template <class Index, class T>
void one_hot(const OneHotArguments& arguments, Pool& pool) {
  const auto& [indices, on_value, off_value, output, depth, inner] = arguments;
  const OneHot<Index, T> op{indices.as<Index>().data(),
                            inner,
                            depth,
                            *reinterpret_cast<const T*>(on_value.data()),
                            *reinterpret_cast<const T*>(off_value.data()),
                            reinterpret_cast<T*>(output.mutable_data())};
  const size_t rows = static_cast<size_t>(output.elements()) / inner;
  if (inner == 1)
    parallel_rows(pool, rows / depth, depth * sizeof(T),
                  [&](size_t begin, size_t end) { op.write_lines(begin, end); });
  else
    parallel_rows(pool, rows, inner * (sizeof(T) + sizeof(Index)),
                  [&](size_t begin, size_t end) { op.write_rows(begin, end); });
}

void compute_one_hot(const OneHotArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  with_type(IndexTypes{}, arguments.indices.dtype(), [&]<class Index>(std::type_identity<Index>) {
    with_storage(arguments.output.dtype(),
                 [&]<class T>(std::type_identity<T>) { one_hot<Index, T>(arguments, device.pool()); });
  });
}

}  // namespace

Result<OneHotArguments> check_one_hot(KernelContext& context) {
  const Tensor &indices = context.input(0), &on_value = context.input(2), &off_value = context.input(3);
  TROUPE_ASSIGN(const int64_t depth, integer_scalar(context.input(1), "depth"));
  TROUPE_RETURN_IF_FAILED(check_depth(depth));
  for (size_t i = 2; i < 4; ++i)
    if (!context.input(i).shape().is_scalar())
      return invalid_argument(context.node().op->inputs[i].name + " of shape " +
                              context.input(i).shape().text() + " is not a scalar");
  const auto dims = indices.shape().dims();
  TROUPE_ASSIGN(const size_t axis, resolve_axis(context.node().attrs.get<int64_t>("axis"), dims.size() + 1));
  TROUPE_ASSIGN(const Shape shape, Shape::make(Dims(dims).with(axis, depth), on_value.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return OneHotArguments{
      indices, on_value, off_value, *output, static_cast<size_t>(depth), count_of(dims.subspan(axis))};
}

void add_one_hot(OpLibrary& library) {
  library.op(OpDefBuilder("OneHot")
                 .input("indices: TI")
                 .host_input("depth: int32")
                 .input("on_value: T")
                 .input("off_value: T")
                 .output("output: T")
                 .attr("axis: int = -1")
                 .attr("T: type")
                 .attr("TI: {uint8, int8, int32, int64} = int64")
                 .constructor("one_hot(indices, depth, on_value, off_value, axis)")
                 .shape(one_hot_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("OneHot", check_one_hot, compute_one_hot));
}

}  // namespace troupe

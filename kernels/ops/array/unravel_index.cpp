// UnravelIndex(indices, dims): the positions of the elements that have these row-major numbers in a tensor of dimensions dims. For
// a vector of numbers each column of the result is a position, for a scalar the result is one. InvalidArgument for a number outside
// of the tensor, and if a dimension is not positive or the tensor would have more than 2^63 - 1 elements.
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

Status check_rank(const PartialShape& indices) {
  if (!indices.known_rank() || indices.rank() <= 1) return {};
  return invalid_argument("indices of shape " + indices.text() + " must be a scalar or a vector");
}

Dims positions_dims(std::span<const int64_t> indices, int64_t rank) {
  Dims dims{rank};
  dims.append(indices);
  return dims;
}

Status unravel_shape(ShapeContext& context) {
  const PartialShape& indices = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_rank(indices));
  TROUPE_ASSIGN(const auto dims, context.with_rank(1, 1));
  if (indices.known_rank()) context.set_output(0, partial(positions_dims(indices.dims(), dims[0])));
  return {};
}

struct UnravelArguments {
  const Tensor& indices;  ///< int32 or int64; not checked yet
  Tensor& output;         ///< [dims.size(), the number of indices]
  Dims dims;
  int64_t elements;  ///< of a tensor of these dimensions
};

Result<UnravelArguments> check_unravel(KernelContext& context) {
  const Tensor& indices = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_rank(indices.shape()));
  TROUPE_ASSIGN(Dims dims, integer_vector(context.input(1), "dims"));
  int64_t elements = 1;
  for (const int64_t dim : dims) {
    if (dim <= 0)
      return invalid_argument("dims = " + text_of(dims) + " has the element " + std::to_string(dim) +
                              "; all must be positive");
    if (__builtin_mul_overflow(elements, dim, &elements))
      return invalid_argument("dims = " + text_of(dims) + " has a product of more than 2^63 - 1");
  }
  const auto rank = static_cast<int64_t>(dims.size());
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(positions_dims(indices.shape().dims(), rank), indices.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return UnravelArguments{indices, *output, std::move(dims), elements};
}

Status compute_unravel(const UnravelArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_indices(arguments.indices, arguments.elements));
  with_type(TypeList<int32_t, int64_t>{}, arguments.indices.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto from = arguments.indices.as<T>();
    T* const to = arguments.output.write<T>().data();
    const size_t rank = arguments.dims.size();
    parallel_items(device.pool(), from.size(), 16 * (rank + 1), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        int64_t rest = from[i];
        for (size_t d = rank; d-- > 0; rest /= arguments.dims[d])
          to[d * from.size() + i] = static_cast<T>(rest % arguments.dims[d]);
      }
    });
  });
  return {};
}

}  // namespace

void add_unravel_index(OpLibrary& library) {
  library.op(OpDefBuilder("UnravelIndex")
                 .input("indices: Tidx")
                 .host_input("dims: Tidx")
                 .output("output: Tidx")
                 .attr("Tidx: {int32, int64} = int32")
                 .constructor("unravel_index(indices, dims)")
                 .shape(unravel_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("UnravelIndex", check_unravel, compute_unravel));
}

}  // namespace troupe

// ArgMax(input, dimension), ArgMin(input, dimension): the index along one axis at which the greatest (least)
// element lies, the first of equals. NaN is never chosen unless it comes first. `dimension` is an int32 or
// int64 scalar, negative from the end; the axis goes. InvalidArgument when it is empty. Not differentiable.
#include "graph/shape_context.h"
#include "kernels/all_ops.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"
#include "kernels/type_dispatch.h"

namespace troupe {
namespace {

Status arg_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  const auto dimension = context.constant_integers(1);
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  if (dimension) {
    TROUPE_ASSIGN(const size_t axis, resolve_axis(dimension->front(), input.rank()));
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  } else {
    if (dims.empty()) return invalid_argument("the input is a scalar and has no axis");
    dims.assign(dims.size() - 1, unknown_dim);
  }
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

/// The input seen as a box [outer, length, inner] whose middle axis is searched.
struct Search {
  size_t outer = 1, length = 1, inner = 1;
};

template <class T>
auto comparable(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(x);
  else
    return x;
}

template <class T, class Index, bool Greatest>
void search(Pool& pool, const Search& box, const Tensor& input, Tensor& output) {
  const T* const x = input.as<T>().data();
  Index* const out = output.write<Index>().data();
  parallel_rows(pool, box.outer * box.inner, box.length * sizeof(T) * 2, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const T* const first = x + i / box.inner * box.length * box.inner + i % box.inner;
      auto best = comparable(*first);
      size_t at = 0;
      for (size_t k = 1; k < box.length; ++k) {
        const auto value = comparable(first[k * box.inner]);
        if (Greatest ? value > best : value < best) {
          best = value;
          at = k;
        }
      }
      out[i] = static_cast<Index>(at);
    }
  });
}

template <bool Greatest>
Status run_arg(KernelContext& context) {
  const Tensor &input = context.input(0), &dimension = context.input(1);
  TROUPE_ASSIGN(const int64_t wanted, integer_scalar(dimension, "dimension"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(wanted, input.shape().rank()));
  Search box;
  Dims dims;
  for (size_t i = 0; i < input.shape().rank(); ++i) {
    const auto size = static_cast<size_t>(input.shape()[i]);
    (i < axis ? box.outer : i > axis ? box.inner : box.length) *= size;
    if (i != axis) dims.push_back(input.shape()[i]);
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::Int64));
  if (box.length == 0 && shape.elements() != 0)
    return invalid_argument("axis " + std::to_string(axis) + " of " + input.signature() + " is empty");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  if (output->dtype() == DType::Int32 && box.length > size_t{INT32_MAX})
    return invalid_argument("an index along axis " + std::to_string(axis) + " of " + input.signature() +
                            " does not fit int32");
  with_type(RealTypes{}, input.dtype(), [&]<class T>(std::type_identity<T>) {
    if (output->dtype() == DType::Int32)
      search<T, int32_t, Greatest>(context.device().pool(), box, input, *output);
    else
      search<T, int64_t, Greatest>(context.device().pool(), box, input, *output);
  });
  return {};
}

OpDefBuilder arg_op(const char* name, const char* constructor) {
  return OpDefBuilder(name)
      .input("input: T")
      .input("dimension: Tidx")
      .output("output: output_type")
      .attr("T: realnumbertype")
      .attr("Tidx: {int32, int64} = int32")
      .attr("output_type: {int32, int64} = int64")
      .constructor(std::string(constructor) + "(input, axis: dimension = 0, output_type = int32)")
      .shape(arg_shape)
      .not_differentiable();
}

}  // namespace

void add_arg_reduction_ops(OpLibrary& library) {
  library.op(arg_op("ArgMax", "argmax"));
  library.op(arg_op("ArgMin", "argmin"));
  library.kernel(cpu_kernel("ArgMax", run_arg<true>).host({"dimension"}).inexpensive());
  library.kernel(cpu_kernel("ArgMin", run_arg<false>).host({"dimension"}).inexpensive());
}

}  // namespace troupe

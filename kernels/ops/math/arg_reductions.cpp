// ArgMax(input, dimension), ArgMin(input, dimension): the index along one axis of the greatest (least) element, the first of
// equal ones. NaN counts only if it comes first. `dimension` is an int32 or int64 scalar; a negative one counts from the end.
// The output does not have that axis. Fails with InvalidArgument if the axis is empty. Not differentiable.
#include "kernels/ops/math/arg_reductions.h"

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/rows.h"

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
    if (dims.empty()) return invalid_argument("the input is a scalar; it must have at least one dimension");
    dims.assign(dims.size() - 1, unknown_dim);
  }
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

template <class T>
auto comparable(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(x);
  else
    return x;
}

/// Sets `at[i]` for neighbouring columns, element by element.
template <class T>
void search_columns(const T* x, size_t length, size_t stride, size_t columns, bool greatest, int64_t* at) {
  for (size_t i = 0; i < columns; ++i) {
    auto best = comparable(x[i]);
    at[i] = 0;
    for (size_t k = 1; k < length; ++k) {
      const auto value = comparable(x[k * stride + i]);
      if (greatest ? value > best : value < best) {
        best = value;
        at[i] = static_cast<int64_t>(k);
      }
    }
  }
}

template <class T>
void search(Pool& pool, const ArgReductionArguments& box, bool greatest, int64_t* at) {
  constexpr bool has_vectors = std::is_same_v<T, float> || std::is_same_v<T, double>;
  const SearchLoops* const loops =
      has_vectors && box.length <= size_t{INT32_MAX} ? &search_loops(box.input.dtype(), greatest) : nullptr;
  const T* const x = box.input.as<T>().data();
  const size_t cost = box.length * sizeof(T) * 2;
  if (loops && box.inner == 1)
    return parallel_rows(pool, box.outer, cost, [&](size_t begin, size_t end) {
      loops->rows(x + begin * box.length, box.length, end - begin, at + begin);
    });
  constexpr size_t strip = 64;  // the number of columns that are searched side by side
  const size_t strips = (box.inner + strip - 1) / strip;
  parallel_rows(pool, box.outer * strips, cost * std::min(strip, box.inner), [&](size_t begin, size_t end) {
    for (size_t task = begin; task < end; ++task) {
      const size_t outer = task / strips, column = task % strips * strip,
                   columns = std::min(strip, box.inner - column);
      const T* const first = x + outer * box.length * box.inner + column;
      int64_t* const found = at + outer * box.inner + column;
      if (loops)
        loops->columns(first, box.length, box.inner, columns, found);
      else
        search_columns(first, box.length, box.inner, columns, greatest, found);
    }
  });
}

template <bool Greatest>
Status compute_arg_reduction(const ArgReductionArguments& arguments, DeviceContext& device) {
  Tensor found = arguments.output;
  const bool narrows = found.dtype() == DType::Int32;
  if (narrows) {
    TROUPE_ASSIGN(found, Tensor::allocate(DType::Int64, found.shape(), device.memory()));
  }
  with_type(RealTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    search<T>(device.pool(), arguments, Greatest, found.write<int64_t>().data());
  });
  if (narrows) convert(device.pool(), found, arguments.output);
  return {};
}

OpDefBuilder arg_op(const char* name, const char* constructor) {
  return OpDefBuilder(name)
      .input("input: T")
      .host_input("dimension: Tidx")
      .output("output: output_type")
      .attr("T: realnumbertype")
      .attr("Tidx: {int32, int64} = int32")
      .attr("output_type: {int32, int64} = int64")
      .constructor(std::string(constructor) + "(input, axis: dimension = 0, output_type = int32)")
      .shape(arg_shape)
      .not_differentiable();
}

}  // namespace

Result<ArgReductionArguments> check_arg_reduction(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const int64_t wanted, integer_scalar(context.input(1), "dimension"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(wanted, input.shape().rank()));
  const auto dims = input.shape().dims();
  const auto length = static_cast<size_t>(dims[axis]);
  TROUPE_ASSIGN(const Shape shape, Shape::make(Dims(dims).without(axis), DType::Int64));
  if (length == 0 && shape.elements() != 0)
    return invalid_argument("axis " + std::to_string(axis) + " of " + input.signature() +
                            " is empty; it must have at least one element");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  if (output->dtype() == DType::Int32 && length > size_t{INT32_MAX})
    return invalid_argument("an index along axis " + std::to_string(axis) + " of " + input.signature() +
                            " does not fit int32; use output_type int64");
  return ArgReductionArguments{input, *output, count_of(dims.first(axis)), length,
                               count_of(dims.subspan(axis + 1))};
}

void add_arg_reduction_ops(OpLibrary& library) {
  library.op(arg_op("ArgMax", "argmax"));
  library.op(arg_op("ArgMin", "argmin"));
  library.kernel(cpu_kernel("ArgMax", check_arg_reduction, compute_arg_reduction<true>).inexpensive());
  library.kernel(cpu_kernel("ArgMin", check_arg_reduction, compute_arg_reduction<false>).inexpensive());
}

}  // namespace troupe

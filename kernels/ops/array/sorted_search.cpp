// Where values belong in sorted lists.
//   LowerBound(sorted_inputs, values)   for each value the number of elements of its list that are less
//   UpperBound(sorted_inputs, values)   the number of elements that are not greater
// Row b of the matrix sorted_inputs is the list of row b of the matrix values. The lists are taken to be sorted.
// Bucketize(input)                    for each element the number of `boundaries` that are not greater; InvalidArgument unless
// these are
//                                       sorted
// A NaN is greater than no element and less than none.
#include <algorithm>
#include <bit>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using PositionTypes = TypeList<int32_t, int64_t>;

/// What finding a place among so many elements costs, in bytes moved.
size_t search_cost(size_t elements) { return 16 + 8 * static_cast<size_t>(std::bit_width(elements)); }

// ---- LowerBound and UpperBound

Status bound_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto sorted, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto values, context.with_rank(1, 2));
  TROUPE_ASSIGN(const auto rows, merge(PartialShape::vector(sorted[0]), PartialShape::vector(values[0])));
  context.set_output(0, PartialShape{rows[0], values[1]});
  return {};
}

struct BoundArguments {
  const Tensor& sorted;  ///< [rows, n]
  const Tensor& values;  ///< [rows, m]
  Tensor& output;        ///< int32 or int64 [rows, m]
};

Result<BoundArguments> check_bound(KernelContext& context) {
  const Tensor &sorted = context.input(0), &values = context.input(1);
  const Shape &lists = sorted.shape(), &wanted = values.shape();
  if (lists.rank() != 2 || wanted.rank() != 2 || lists[0] != wanted[0])
    return invalid_argument("sorted_inputs of shape " + lists.text() + " and values of shape " +
                            wanted.text() + " are no matrices of as many rows");
  if (context.node().output_types[0].dtype == DType::Int32 && lists[1] > INT32_MAX)
    return invalid_argument("positions among " + std::to_string(lists[1]) +
                            " elements do not fit int32; use out_type int64");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, wanted));
  return BoundArguments{sorted, values, *output};
}

template <bool upper, class T, class Position>
void find_bounds(const BoundArguments& arguments, Pool& pool) {
  const auto sorted = arguments.sorted.as<T>(), values = arguments.values.as<T>();
  const auto output = arguments.output.write<Position>();
  const auto n = static_cast<size_t>(arguments.sorted.shape()[1]),
             m = static_cast<size_t>(arguments.values.shape()[1]);
  const auto less = [](const T& a, const T& b) {
    return static_cast<ComputeType<T>>(a) < static_cast<ComputeType<T>>(b);
  };
  parallel_items(pool, values.size(), search_cost(n), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const T* const list = sorted.data() + i / m * n;
      const T* const at = upper ? std::upper_bound(list, list + n, values[i], less)
                                : std::lower_bound(list, list + n, values[i], less);
      output[i] = static_cast<Position>(at - list);
    }
  });
}

template <bool upper>
void compute_bound(const BoundArguments& arguments, DeviceContext& device) {
  with_type(RealTypes{}, arguments.values.dtype(), [&]<class T>(std::type_identity<T>) {
    with_type(PositionTypes{}, arguments.output.dtype(), [&]<class Position>(std::type_identity<Position>) {
      find_bounds<upper, T, Position>(arguments, device.pool());
    });
  });
}

// ---- Bucketize

struct BucketizeArguments {
  const Tensor& input;
  Tensor& output;  ///< int32
  const std::vector<float>& boundaries;
};

Result<BucketizeArguments> check_bucketize(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto& boundaries = context.node().attrs.get<std::vector<float>>("boundaries");
  if (!std::ranges::is_sorted(boundaries)) return invalid_argument("boundaries are not sorted");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return BucketizeArguments{input, *output, boundaries};
}

/// Integers are compared as floats.
template <class T>
using Compared = std::conditional_t<std::is_integral_v<T>, float, T>;

void compute_bucketize(const BucketizeArguments& arguments, DeviceContext& device) {
  const auto& boundaries = arguments.boundaries;
  const auto output = arguments.output.write<int32_t>();
  with_type(TypeList<int32_t, int64_t, float, double>{}, arguments.input.dtype(),
            [&]<class T>(std::type_identity<T>) {
              const auto input = arguments.input.as<T>();
              parallel_items(device.pool(), input.size(), search_cost(boundaries.size()),
                             [&](size_t begin, size_t end) {
                               for (size_t i = begin; i < end; ++i) {
                                 const auto at = std::upper_bound(boundaries.begin(), boundaries.end(),
                                                                  static_cast<Compared<T>>(input[i]));
                                 output[i] = static_cast<int32_t>(at - boundaries.begin());
                               }
                             });
            });
}

OpDefBuilder bound_op(const char* name) {
  return OpDefBuilder(name)
      .input("sorted_inputs: T")
      .input("values: T")
      .output("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = int32")
      .shape(bound_shape);
}

}  // namespace

void add_sorted_search_ops(OpLibrary& library) {
  library.op(bound_op("LowerBound").constructor("lower_bound(sorted_inputs, values, out_type)"));
  library.op(bound_op("UpperBound").constructor("upper_bound(sorted_inputs, values, out_type)"));
  library.kernel(cpu_kernel("LowerBound", check_bound, compute_bound<false>).on("T", dtypes(RealTypes{})));
  library.kernel(cpu_kernel("UpperBound", check_bound, compute_bound<true>).on("T", dtypes(RealTypes{})));
  library.op(OpDefBuilder("Bucketize")
                 .input("input: T")
                 .output("output: int32")
                 .attr("T: {int32, int64, float, double}")
                 .attr("boundaries: list(float)")
                 .constructor("bucketize(input, boundaries)")
                 .shape(unchanged_shape));
  library.kernel(cpu_kernel("Bucketize", check_bucketize, compute_bucketize));
}

}  // namespace troupe

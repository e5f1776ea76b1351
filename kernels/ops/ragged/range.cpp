// RaggedRange(starts, limits, deltas): a ragged matrix, rt_nested_splits and rt_dense_values, whose row i is the sequence
// from starts[i] up to, but not including, limits[i] in steps of deltas[i]. Each input is a vector or a scalar, which holds
// for every row. Where delta leads away from limit, the row is empty. Each number is the one before it plus delta, rounded to
// the type. Fails with InvalidArgument if a delta is 0 or the splits do not fit their type.
#include "kernels/ops/array/range.h"
#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/ops/ragged/splits.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

using RangeTypes = TypeList<int32_t, int64_t, float, double>;

/// Measuring finds the splits; computing writes the numbers.
struct RangesArguments {
  const Tensor &starts, &limits, &deltas;
  int64_t rows;
  std::vector<int64_t> splits = {0};
  Tensor *out_splits = nullptr, *values = nullptr;
};

/// Returns the number of rows that inputs of these shapes make, as far as it is known.
Result<int64_t> rows_of(std::initializer_list<const PartialShape*> shapes) {
  bool all_scalars = true;
  PartialShape vector{unknown_dim};
  for (const PartialShape* const shape : shapes) {
    if (shape->known_rank() && shape->rank() > 1)
      return invalid_argument("an input of shape " + shape->text() +
                              "; starts, limits and deltas must be scalars or vectors");
    all_scalars = all_scalars && shape->has_rank(0);
    if (shape->has_rank(1)) {
      TROUPE_ASSIGN(vector, merge(vector, *shape));
    }
  }
  return all_scalars ? 1 : vector[0];
}

Status ranges_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const int64_t rows, rows_of({&context.input(0), &context.input(1), &context.input(2)}));
  context.set_output(0, PartialShape{rows == unknown_dim ? unknown_dim : rows + 1});
  context.set_output(1, PartialShape{unknown_dim});
  return {};
}

Result<RangesArguments> check_ranges(KernelContext& context) {
  const Tensor &starts = context.input(0), &limits = context.input(1), &deltas = context.input(2);
  const PartialShape shapes[] = {starts.shape(), limits.shape(), deltas.shape()};
  TROUPE_ASSIGN(const int64_t rows, rows_of({&shapes[0], &shapes[1], &shapes[2]}));
  return RangesArguments{starts, limits, deltas, rows};
}

/// The element of an input that holds for a row.
template <class T>
T of_row(const Tensor& input, size_t row) {
  return input.as<T>()[input.shape().is_scalar() ? 0 : row];
}

template <class T>
Status measure_ranges_of(RangesArguments& arguments) {
  for (size_t row = 0; row < static_cast<size_t>(arguments.rows); ++row) {
    const T start = of_row<T>(arguments.starts, row), limit = of_row<T>(arguments.limits, row),
            delta = of_row<T>(arguments.deltas, row);
    const bool is_empty = (delta > 0 && limit < start) || (delta < 0 && limit > start);
    int64_t size = 0;
    if (!is_empty) {
      TROUPE_ASSIGN(size, range_size(start, limit, delta));
    }
    if (size > INT64_MAX - arguments.splits.back())
      return invalid_argument("the ranges have more than 2^63 - 1 numbers");
    arguments.splits.push_back(arguments.splits.back() + size);
  }
  return {};
}

Status measure_ranges(RangesArguments& arguments, DeviceContext& /*device*/) {
  Status status;
  with_type(RangeTypes{}, arguments.starts.dtype(),
            [&]<class T>(std::type_identity<T>) { status = measure_ranges_of<T>(arguments); });
  return status;
}

Status allocate_ranges(RangesArguments& arguments, KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_fits(arguments.splits.back(), context.node().output_types[0].dtype));
  TROUPE_ASSIGN(arguments.out_splits, vector_output(context, 0, arguments.rows + 1));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, arguments.splits.back()));
  return {};
}

Status compute_ranges(const RangesArguments& arguments, DeviceContext& /*device*/) {
  write_integers(arguments.splits, *arguments.out_splits);
  with_type(RangeTypes{}, arguments.starts.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = arguments.values->write<T>();
    for (size_t row = 0; row < static_cast<size_t>(arguments.rows); ++row) {
      T value = of_row<T>(arguments.starts, row);
      const T delta = of_row<T>(arguments.deltas, row);
      for (int64_t i = arguments.splits[row]; i < arguments.splits[row + 1]; ++i) {
        values[static_cast<size_t>(i)] = value;
        value = Add::apply(value, delta);
      }
    }
  });
  return {};
}

}  // namespace

void add_ragged_range(OpLibrary& library) {
  library.op(OpDefBuilder("RaggedRange")
                 .input("starts: T")
                 .input("limits: T")
                 .input("deltas: T")
                 .output("rt_nested_splits: Tsplits")
                 .output("rt_dense_values: T")
                 .attr("T: {bfloat16, float, double, int32, int64} = int32")
                 .attr("Tsplits: {int32, int64} = int64")
                 .shape(ranges_shape));
  library.kernel(
      measured_cpu_kernel("RaggedRange", check_ranges, measure_ranges, allocate_ranges, compute_ranges)
          .on("T", dtypes(RangeTypes{})));
}

}  // namespace troupe

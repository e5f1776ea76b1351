// Rows dealt out by number, and put together by number.
//   DynamicPartition(data, partitions)        output k has the rows of data whose partition is k, in order
//   DynamicStitch(indices..., data...)        row indices[i][j] of the result is row j of data[i]: as many rows as the greatest
//                                             index asks for; of two with one index the later counts, rows without any are zeros
//   ParallelDynamicStitch                     the same
// `partitions` and `indices` have one number for each row, so their shapes begin those of the data. Partitions outside
// [0, num_partitions) and negative indices are InvalidArgument.
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/all_ops.h"

namespace troupe {
namespace {

Result<Shape> rows_shape(int64_t rows, const Dims& row, DType dtype) {
  return Shape::make(row.with(0, rows), dtype);
}

// ---- DynamicPartition

Status partition_shape(ShapeContext& context) {
  const PartialShape &data = context.input(0), &partitions = context.input(1);
  if (!data.known_rank() || !partitions.known_rank()) return {};
  TROUPE_ASSIGN(const Dims row, row_dims(data.dims(), partitions.dims(), "data", "partitions"));
  const auto numbers = context.constant_integers(1);
  const auto count = context.attr<int64_t>("num_partitions");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t rows = numbers ? std::ranges::count(*numbers, i) : unknown_dim;
    context.set_output(static_cast<size_t>(i), partial(row.with(0, rows)));
  }
  return {};
}

Status run_partition(KernelContext& context) {
  const Tensor &data = context.input(0), &partitions = context.input(1);
  const auto count = context.node().attrs.get<int64_t>("num_partitions");
  TROUPE_ASSIGN(const Dims row,
                row_dims(data.shape().dims(), partitions.shape().dims(), "data", "partitions"));
  TROUPE_RETURN_IF_FAILED(check_indices(partitions, count, "partitions"));
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(count));
  const auto numbers = partitions.as<int32_t>();
  for (size_t i = 0; i < numbers.size(); ++i)
    rows[static_cast<size_t>(numbers[i])].push_back(static_cast<int64_t>(i));
  for (size_t k = 0; k < rows.size(); ++k) {
    TROUPE_ASSIGN(const Shape shape, rows_shape(static_cast<int64_t>(rows[k].size()), row, data.dtype()));
    TROUPE_ASSIGN(Tensor* const output, context.output(k, shape));
    take_rows(context.device().pool(), data, rows[k], *output, count_of(row));
  }
  return {};
}

/// Where each row went is found by dealing out their numbers alike; by these the gradients are put together.
void partition_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output partitions = context.input(1);
  const auto count = context.attr<int64_t>("num_partitions");
  const Output range = scope.add_one(
      "Range", {integer_constant(scope, 0), scope.add_one("Size", {partitions}), integer_constant(scope, 1)});
  const Output numbers = scope.add_one("Reshape", {range, shape_of(scope, partitions)});
  const NodeId parts = scope.add("DynamicPartition", {numbers, partitions}, {{"num_partitions", count}});
  std::vector<Output> inputs;
  for (uint32_t i = 0; i < count; ++i) inputs.push_back({parts, i});
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) inputs.push_back(context.gradient(i));
  const Output stitched = scope.add_one("DynamicStitch", std::move(inputs));
  context.set(0, scope.add_one("Reshape", {stitched, shape_of(scope, context.input(0))}));
}

// ---- DynamicStitch

Status stitch_shape(ShapeContext& context) {
  const size_t count = context.inputs() / 2;
  PartialShape row;
  int64_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    const PartialShape &indices = context.input(i), &data = context.input(count + i);
    const auto numbers = context.constant_integers(i);
    if (!numbers) rows = unknown_dim;
    for (const int64_t number : numbers.value_or(std::vector<int64_t>{}))
      if (rows != unknown_dim) rows = std::max(rows, number + 1);
    if (!indices.known_rank() || !data.known_rank()) continue;
    TROUPE_ASSIGN(const Dims dims, row_dims(data.dims(), indices.dims(), "data", "indices"));
    TROUPE_ASSIGN(row, merge(row, partial(dims)));
  }
  context.set_output(0, concatenate(PartialShape::vector(rows), row));
  return {};
}

/// What is put together, once checked.
struct Stitch {
  size_t count;
  Dims row;
  int64_t rows = 0;
};

Result<Stitch> checked_stitch(const KernelContext& context) {
  Stitch stitch{context.inputs() / 2, {}, 0};
  for (size_t i = 0; i < stitch.count; ++i) {
    const Tensor &indices = context.input(i), &data = context.input(stitch.count + i);
    TROUPE_ASSIGN(Dims row, row_dims(data.shape().dims(), indices.shape().dims(), "data", "indices"));
    if (i == 0) stitch.row = row;
    if (!(row == stitch.row))
      return invalid_argument("rows of shapes " + text_of(stitch.row) + " and " + text_of(row) + " differ");
    TROUPE_RETURN_IF_FAILED(check_indices(indices, int64_t{1} << 31, "indices[" + std::to_string(i) + "]"));
    for (const int32_t number : indices.as<int32_t>())
      stitch.rows = std::max(stitch.rows, int64_t{number} + 1);
  }
  return stitch;
}

/// A row of the result and where it comes from.
struct Source {
  int32_t to = 0, data = 0;
  int64_t row = 0;
};

/// In order of the rows of the result, each once. As many as there are rows at most, whatever the greatest index is.
std::vector<Source> sources_of(const KernelContext& context, const Stitch& stitch) {
  std::vector<Source> sources;
  for (size_t i = 0; i < stitch.count; ++i)
    for (int64_t row = 0; const int32_t to : context.input(i).as<int32_t>())
      sources.push_back({to, static_cast<int32_t>(i), row++});
  const auto before = [](const Source& a, const Source& b) { return a.to < b.to; };
  if (!std::ranges::is_sorted(sources, before)) std::ranges::stable_sort(sources, before);
  // Of equal ones the last stays: from the end it is the first.
  const auto same = [](const Source& a, const Source& b) { return a.to == b.to; };
  sources.erase(sources.begin(), std::unique(sources.rbegin(), sources.rend(), same).base());
  return sources;
}

Status run_stitch(KernelContext& context) {
  TROUPE_ASSIGN(const Stitch stitch, checked_stitch(context));
  const DType dtype = context.input(stitch.count).dtype();
  TROUPE_ASSIGN(const Shape shape, rows_shape(stitch.rows, stitch.row, dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const std::vector<Source> sources = sources_of(context, stitch);
  const size_t row = count_of(stitch.row), bytes = row * size_of(dtype);
  if (bytes == 0) return {};
  const auto clear = [&](int64_t begin, int64_t end) {
    if (dtype != DType::String)
      std::memset(output->mutable_data() + static_cast<size_t>(begin) * bytes, 0,
                  static_cast<size_t>(end - begin) * bytes);
  };
  // Each with the rows from nowhere before it; the last row of the result has a source.
  parallel_rows(context.device().pool(), sources.size(), 2 * bytes, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Source& source = sources[i];
      clear(i == 0 ? 0 : sources[i - 1].to + int64_t{1}, source.to);
      copy_row(context.input(stitch.count + static_cast<size_t>(source.data)),
               static_cast<size_t>(source.row), *output, static_cast<size_t>(source.to), row);
    }
  });
  return {};
}

void stitch_gradient(GradientContext& context) {
  const auto count = static_cast<size_t>(context.attr<int64_t>("N"));
  for (size_t i = 0; i < count; ++i)
    context.set(count + i, context.scope().add_one("Gather", {context.gradient(), context.input(i)}));
}

}  // namespace

void add_dynamic_partition_ops(OpLibrary& library) {
  library.op(OpDefBuilder("DynamicPartition")
                 .input("data: T")
                 .input("partitions: int32")
                 .output("outputs: num_partitions * T")
                 .attr("num_partitions: int >= 1")
                 .attr("T: type")
                 .constructor("dynamic_partition(data, partitions, num_partitions)")
                 .shape(partition_shape)
                 .gradient(partition_gradient));
  library.kernel(cpu_kernel("DynamicPartition", run_partition).host({"partitions"}));
  for (const std::string name : {"DynamicStitch", "ParallelDynamicStitch"}) {
    const std::string prefix = name == "DynamicStitch" ? "" : "parallel_";
    library.op(OpDefBuilder(name)
                   .input("indices: N * int32")
                   .input("data: N * T")
                   .output("merged: T")
                   .attr("N: int >= 1")
                   .attr("T: type")
                   .constructor(prefix + "dynamic_stitch(indices, data)")
                   .shape(stitch_shape)
                   .gradient(stitch_gradient));
    library.kernel(cpu_kernel(name, run_stitch).host({"indices"}));
  }
}

}  // namespace troupe

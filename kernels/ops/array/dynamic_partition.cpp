// Rows distributed by number, and merged by number.
//   DynamicPartition(data, partitions)        output k consists of the rows of data whose partition is k, in order
//   DynamicStitch(indices..., data...)        row indices[i][j] of the result is row j of data[i]. The number of rows is the
//                                             greatest index plus one; of rows with equal index the last one counts, and rows
//                                             without an index are zeros
//   ParallelDynamicStitch                     the same
// `partitions` and `indices` have one number for each row, so the shapes of the data begin with theirs. Partitions outside
// [0, num_partitions) and negative indices fail with InvalidArgument.
#include "kernels/ops/array/dynamic_partition.h"

#include <algorithm>
#include <cstring>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"

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

void compute_dynamic_partition(const DynamicPartitionArguments& arguments, DeviceContext& device) {
  const auto& [data, partitions, parts, row] = arguments;
  // Sorts the rows by part, in order within each part; `ends` is the position of the next row of each part.
  std::vector<int64_t> rows(static_cast<size_t>(partitions.elements()));
  ShortList<size_t> ends(parts.size());
  for (size_t k = 1; k < parts.size(); ++k)
    ends[k] = ends[k - 1] + static_cast<size_t>(parts[k - 1].shape()[0]);
  for (int64_t i = 0; const int32_t part : partitions.as<int32_t>())
    rows[ends[static_cast<size_t>(part)]++] = i++;
  for (size_t k = 0, begin = 0; k < parts.size(); begin = ends[k++])
    take_rows(device.pool(), data, std::span(rows).subspan(begin, ends[k] - begin), parts[k], row);
}

/// The numbers of the rows are partitioned in the same way to find where each row went; these indices merge the gradients.
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

/// A row of the result and its source.
struct Source {
  int32_t to = 0, data = 0;
  int64_t row = 0;
};

/// Returns the sources in order of the rows of the result, one for each row that has one. There are at most as many as rows of
/// data, whatever the greatest index is.
std::vector<Source> sources_of(std::span<const Slot> indices) {
  std::vector<Source> sources;
  for (size_t i = 0; i < indices.size(); ++i)
    for (int64_t row = 0; const int32_t to : indices[i].tensor.as<int32_t>())
      sources.push_back({to, static_cast<int32_t>(i), row++});
  const auto before = [](const Source& a, const Source& b) { return a.to < b.to; };
  if (!std::ranges::is_sorted(sources, before)) std::ranges::stable_sort(sources, before);
  // Of equal indices the last one counts; in reverse order it is the first.
  const auto same = [](const Source& a, const Source& b) { return a.to == b.to; };
  sources.erase(sources.begin(), std::unique(sources.rbegin(), sources.rend(), same).base());
  return sources;
}

void compute_dynamic_stitch(const DynamicStitchArguments& arguments, DeviceContext& device) {
  const auto data = arguments.data;
  Tensor& merged = arguments.merged;
  const size_t row = arguments.row;
  const std::vector<Source> sources = sources_of(arguments.indices);
  const size_t bytes = row * size_of(merged.dtype());
  if (bytes == 0) return;
  const auto clear = [&](int64_t begin, int64_t end) {
    if (merged.dtype() != DType::String)
      std::memset(merged.mutable_data() + static_cast<size_t>(begin) * bytes, 0,
                  static_cast<size_t>(end - begin) * bytes);
  };
  // Copies each row, together with the rows without a source before it; the last row of the result has a source.
  parallel_rows(device.pool(), sources.size(), 2 * bytes, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Source& source = sources[i];
      clear(i == 0 ? 0 : sources[i - 1].to + int64_t{1}, source.to);
      copy_row(data[static_cast<size_t>(source.data)].tensor, static_cast<size_t>(source.row), merged,
               static_cast<size_t>(source.to), row);
    }
  });
}

void stitch_gradient(GradientContext& context) {
  const auto count = static_cast<size_t>(context.attr<int64_t>("N"));
  for (size_t i = 0; i < count; ++i)
    context.set(count + i, context.scope().add_one("Gather", {context.gradient(), context.input(i)}));
}

}  // namespace

Result<DynamicPartitionArguments> check_dynamic_partition(KernelContext& context) {
  const Tensor &data = context.input(0), &partitions = context.input(1);
  const std::span<Tensor> parts = context.outputs();
  TROUPE_ASSIGN(const Dims row,
                row_dims(data.shape().dims(), partitions.shape().dims(), "data", "partitions"));
  TROUPE_RETURN_IF_FAILED(check_indices(partitions, static_cast<int64_t>(parts.size()), "partitions"));
  Dims rows(parts.size());
  for (const int32_t part : partitions.as<int32_t>()) ++rows[static_cast<size_t>(part)];
  for (size_t k = 0; k < parts.size(); ++k) {
    TROUPE_ASSIGN(const Shape shape, rows_shape(rows[k], row, data.dtype()));
    TROUPE_RETURN_IF_FAILED(context.output(k, shape).status());
  }
  return DynamicPartitionArguments{data, partitions, parts, count_of(row)};
}

Result<DynamicStitchArguments> check_dynamic_stitch(KernelContext& context) {
  const size_t count = context.inputs() / 2;
  Dims first;
  int64_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    const Tensor &indices = context.input(i), &data = context.input(count + i);
    TROUPE_ASSIGN(Dims row, row_dims(data.shape().dims(), indices.shape().dims(), "data", "indices"));
    if (i == 0) first = row;
    if (!(row == first))
      return invalid_argument("the rows of data[0] have shape " + text_of(first) + " and those of data[" +
                              std::to_string(i) + "] have shape " + text_of(row) +
                              "; all rows must have the same shape");
    TROUPE_RETURN_IF_FAILED(check_indices(indices, int64_t{1} << 31, "indices[" + std::to_string(i) + "]"));
    for (const int32_t number : indices.as<int32_t>()) rows = std::max(rows, int64_t{number} + 1);
  }
  TROUPE_ASSIGN(const Shape shape, rows_shape(rows, first, context.input(count).dtype()));
  TROUPE_ASSIGN(Tensor* const merged, context.output(0, shape));
  return DynamicStitchArguments{context.input_slots(0, count), context.input_slots(count, count), *merged,
                                count_of(first)};
}

void add_dynamic_partition_ops(OpLibrary& library) {
  library.op(OpDefBuilder("DynamicPartition")
                 .input("data: T")
                 .host_input("partitions: int32")
                 .output("outputs: num_partitions * T")
                 .attr("num_partitions: int >= 1")
                 .attr("T: type")
                 .constructor("dynamic_partition(data, partitions, num_partitions)")
                 .shape(partition_shape)
                 .gradient(partition_gradient));
  library.kernel(cpu_kernel("DynamicPartition", check_dynamic_partition, compute_dynamic_partition));
  for (const std::string name : {"DynamicStitch", "ParallelDynamicStitch"}) {
    const std::string prefix = name == "DynamicStitch" ? "" : "parallel_";
    library.op(OpDefBuilder(name)
                   .host_input("indices: N * int32")
                   .input("data: N * T")
                   .output("merged: T")
                   .attr("N: int >= 1")
                   .attr("T: type")
                   .constructor(prefix + "dynamic_stitch(indices, data)")
                   .shape(stitch_shape)
                   .gradient(stitch_gradient));
    library.kernel(cpu_kernel(name, check_dynamic_stitch, compute_dynamic_stitch));
  }
}

}  // namespace troupe

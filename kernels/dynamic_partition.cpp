// Rows dealt out by number, and put together again (features.md P2, P3).
//   DynamicPartition(data, partitions)   output k: the data whose partition is k, in order
//   DynamicStitch(indices..., data...)   row indices[m][i] is data[m][i]; later ones win, rows that none names are zeros
//   ParallelDynamicStitch                the same
// `partitions` has the first dimensions of data, indices[m] those of data[m]; what remains is a row. A number out of range is
// InvalidArgument with its position and value.
#include <algorithm>

#include "kernels/all_ops.h"
#include "kernels/arguments.h"
#include "kernels/update.h"

namespace troupe {
namespace {

/// The dims of a row: those of data behind what numbers it.
Result<PartialShape> row_shape(const PartialShape& data, const PartialShape& numbers) {
  if (!data.known_rank() || !numbers.known_rank()) return PartialShape{};
  if (data.rank() < numbers.rank() || !merge(partial(data.dims().first(numbers.rank())), numbers).ok())
    return invalid_argument("numbers of shape " + numbers.text() + " for data of shape " + data.text());
  return partial(data.dims().subspan(numbers.rank()));
}

Result<Shape> row_shape(const Tensor& data, const Tensor& numbers) {
  TROUPE_ASSIGN(const PartialShape row, row_shape(data.shape(), numbers.shape()));
  return row.to_shape(data.dtype());
}

Result<Shape> rows_shape(int64_t rows, const Shape& row, DType dtype) {
  Dims dims(1, rows);
  dims.append(row.dims());
  return Shape::make(dims, dtype);
}

/// Rows of one size, by number.
class Rows {
 public:
  Rows(const Shape& row, DType dtype)
      : elements_(row.elements()), bytes_(static_cast<size_t>(elements_) * size_of(dtype)) {}

  void copy(const Tensor& from, int64_t from_row, Tensor& to, int64_t to_row) const {
    if (from.dtype() == DType::String) {
      std::copy_n(from.as<std::string>().begin() + from_row * elements_, elements_,
                  to.write<std::string>().begin() + to_row * elements_);
    } else if (bytes_ > 0) {
      std::memcpy(to.mutable_data() + static_cast<size_t>(to_row) * bytes_,
                  from.data() + static_cast<size_t>(from_row) * bytes_, bytes_);
    }
  }

 private:
  int64_t elements_;
  size_t bytes_;
};

// ---- DynamicPartition

/// How many rows each partition gets.
Result<std::vector<int64_t>> partition_sizes(const Tensor& partitions, size_t count) {
  TROUPE_RETURN_IF_FAILED(check_indices(partitions, static_cast<int64_t>(count)));
  std::vector<int64_t> sizes(count);
  for (const int32_t number : partitions.as<int32_t>()) ++sizes[static_cast<size_t>(number)];
  return sizes;
}

Status partition_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape row, row_shape(context.input(0), context.input(1)));
  const size_t count = context.node().output_types.size();
  std::vector<int64_t> sizes(count, unknown_dim);
  if (const Tensor* const partitions = context.constant(1)) {
    TROUPE_ASSIGN(sizes, partition_sizes(*partitions, count));
  }
  for (size_t i = 0; i < count; ++i) context.set_output(i, concatenate(PartialShape::vector(sizes[i]), row));
  return {};
}

Status run_partition(KernelContext& context) {
  const Tensor &data = context.input(0), &partitions = context.input(1);
  TROUPE_ASSIGN(const Shape row, row_shape(data, partitions));
  const size_t count = context.node().output_types.size();
  TROUPE_ASSIGN(const auto sizes, partition_sizes(partitions, count));
  std::vector<Tensor*> outputs(count);
  for (size_t i = 0; i < count; ++i) {
    TROUPE_ASSIGN(const Shape shape, rows_shape(sizes[i], row, data.dtype()));
    TROUPE_ASSIGN(outputs[i], context.output(i, shape));
  }
  const Rows rows(row, data.dtype());
  const auto numbers = partitions.as<int32_t>();
  std::vector<int64_t> next(count);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<size_t>(numbers[i]);
    rows.copy(data, static_cast<int64_t>(i), *outputs[number], next[number]++);
  }
  return {};
}

/// The positions of the data, dealt out alike, say where each row of the gradients belongs.
void partition_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output data = context.input(0), partitions = context.input(1);
  const auto count = static_cast<uint32_t>(context.node().output_types.size());
  const Output positions = scope.add_one(
      "Reshape", {scope.add_one("Range", {integer_constant(scope, 0), scope.add_one("Size", {partitions}),
                                          integer_constant(scope, 1)}),
                  shape_of(scope, partitions)});
  const NodeId dealt =
      scope.add("DynamicPartition", {positions, partitions}, {{"num_partitions", int64_t{count}}});
  std::vector<Output> inputs;
  for (uint32_t i = 0; i < count; ++i) inputs.push_back({dealt, i});
  for (uint32_t i = 0; i < count; ++i) inputs.push_back(context.gradient(i));
  const Output stitched = scope.add_one("DynamicStitch", std::move(inputs));
  context.set(0, scope.add_one("Reshape", {stitched, shape_of(scope, data)}));
}

// ---- DynamicStitch

/// Inputs are the indices, then as many data.
size_t pairs(size_t inputs) { return inputs / 2; }

/// One more than the greatest of the indices and `rows`.
Result<int64_t> stitched_rows(const Tensor& indices, int64_t rows) {
  TROUPE_RETURN_IF_FAILED(check_indices(indices, int64_t{1} << 31));
  for (const int32_t index : indices.as<int32_t>()) rows = std::max(rows, int64_t{index} + 1);
  return rows;
}

Status stitch_shape(ShapeContext& context) {
  const size_t count = pairs(context.inputs());
  PartialShape row;
  int64_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    TROUPE_ASSIGN(const PartialShape one, row_shape(context.input(count + i), context.input(i)));
    TROUPE_ASSIGN(row, merge(row, one));
    const Tensor* const indices = context.constant(i);
    if (indices == nullptr || rows == unknown_dim) {
      rows = unknown_dim;
      continue;
    }
    TROUPE_ASSIGN(rows, stitched_rows(*indices, rows));
  }
  context.set_output(0, concatenate(PartialShape::vector(rows), row));
  return {};
}

Status run_stitch(KernelContext& context) {
  const size_t count = pairs(context.inputs());
  TROUPE_ASSIGN(const Shape row, row_shape(context.input(count), context.input(0)));
  for (size_t m = 1; m < count; ++m) {
    TROUPE_ASSIGN(const Shape other, row_shape(context.input(count + m), context.input(m)));
    if (!(other == row))
      return invalid_argument("rows of shape " + row.text() + " in data 0, " + other.text() + " in data " +
                              std::to_string(m));
  }
  const DType dtype = context.input(count).dtype();
  int64_t length = 0;
  for (size_t m = 0; m < count; ++m) {
    TROUPE_ASSIGN(length, stitched_rows(context.input(m), length));
  }
  TROUPE_ASSIGN(const Shape shape, rows_shape(length, row, dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  fill(context.device().pool(), *output);
  const Rows rows(row, dtype);
  for (size_t m = 0; m < count; ++m) {
    const auto indices = context.input(m).as<int32_t>();
    for (size_t i = 0; i < indices.size(); ++i)
      rows.copy(context.input(count + m), static_cast<int64_t>(i), *output, indices[i]);
  }
  return {};
}

void stitch_gradient(GradientContext& context) {
  const size_t count = pairs(context.node().inputs.size());
  for (size_t i = 0; i < count; ++i)
    context.set(count + i, context.scope().add_one("Gather", {context.gradient(), context.input(i)}));
}

void add_stitch(OpLibrary& library, const std::string& name) {
  library.op(OpDefBuilder(name)
                 .input("indices: N * int32")
                 .input("data: N * T")
                 .output("merged: T")
                 .attr("N: int >= 1")
                 .attr("T: type")
                 .shape(stitch_shape)
                 .gradient(stitch_gradient));
  library.kernel(cpu_kernel(name, run_stitch));
}

}  // namespace

void add_dynamic_partition_ops(OpLibrary& library) {
  library.op(OpDefBuilder("DynamicPartition")
                 .input("data: T")
                 .input("partitions: int32")
                 .output("outputs: num_partitions * T")
                 .attr("num_partitions: int >= 1")
                 .attr("T: type")
                 .shape(partition_shape)
                 .gradient(partition_gradient));
  library.kernel(cpu_kernel("DynamicPartition", run_partition));
  add_stitch(library, "DynamicStitch");
  add_stitch(library, "ParallelDynamicStitch");
}

}  // namespace troupe

// RaggedTensorToTensor(shape, values, default_value, row_partition_tensors): a ragged tensor as a dense one, in which
// default_value, which broadcasts, stands where a row ends early; what is beyond the shape is left out. In `shape`, -1 leaves
// the size of a dimension to the longest row, and a scalar -1 leaves all of them. row_partition_types says what each
// partition is:
//   FIRST_DIM_SIZE  the number of rows, a scalar; only at first
//   ROW_SPLITS      for each row of a dimension where it begins in the next dimension, and the number of what they split
//   VALUE_ROWIDS    for each element of the next dimension its row, in ascending order
// The last partition is that of the values. Fails with InvalidArgument for partitions that do not fit each other.
#include <algorithm>
#include <array>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/array/copies.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/ragged/splits.h"

namespace troupe {
namespace {

constexpr size_t first_partition = 3;  ///< the input

/// How the rows of a dimension lie in the next one.
struct Partition {
  bool has_splits;
  std::vector<int64_t> numbers;  ///< splits, or the row of each element
  std::vector<int64_t> begins;   ///< of row numbers: where the run of equal ones begins that an element is in

  int64_t elements() const { return has_splits ? numbers.back() : static_cast<int64_t>(numbers.size()); }
  int64_t longest_row() const {
    int64_t longest = 0;
    if (has_splits)
      for (size_t i = 1; i < numbers.size(); ++i) longest = std::max(longest, numbers[i] - numbers[i - 1]);
    else
      for (size_t i = 0; i < begins.size(); ++i)
        longest = std::max(longest, static_cast<int64_t>(i) - begins[i] + 1);
    return longest;
  }
  /// Returns the row of an element, and makes the element its number within that row.
  int64_t row_of(int64_t& element) const {
    if (!has_splits) {
      const auto i = static_cast<size_t>(element);
      element -= begins[i];
      return numbers[i];
    }
    const auto row = std::ranges::upper_bound(numbers, element) - numbers.begin() - 1;
    element -= numbers[static_cast<size_t>(row)];
    return row;
  }
};

struct ToTensorArguments {
  const Tensor &values, &default_value;
  std::span<const Slot> partition_inputs;
  const std::vector<std::string>& types;  ///< of the partitions
  bool has_first_size;
  Dims dims;  ///< those that the shape says; unknown ones are -1
  std::vector<Partition> partitions = {};
  int64_t rows = 0;  ///< of the ragged tensor
  Tensor* output = nullptr;
  Layout default_layout = {};
};

// ---- Partitions and shapes

Result<bool> has_first_size(const Node& node) {
  const auto& types = node.attrs.get<std::vector<std::string>>("row_partition_types");
  const auto count = node.attrs.get<int64_t>("num_row_partition_tensors");
  if (types.empty() || static_cast<int64_t>(types.size()) != count)
    return invalid_argument("row_partition_types has " + std::to_string(types.size()) + " elements for " +
                            std::to_string(count) +
                            " partitions; there must be one for each, and at least one");
  const bool first = types[0] == "FIRST_DIM_SIZE";
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i] != "ROW_SPLITS" && types[i] != "VALUE_ROWIDS" && !(i == 0 && first))
      return invalid_argument("row_partition_types[" + std::to_string(i) + "] is '" + types[i] +
                              "', expected ROW_SPLITS, VALUE_ROWIDS or, at first, FIRST_DIM_SIZE");
  if (first && (types.size() < 2 || types[1] != "VALUE_ROWIDS"))
    return invalid_argument("FIRST_DIM_SIZE must be followed by VALUE_ROWIDS");
  if (types[0] == "VALUE_ROWIDS") return invalid_argument("VALUE_ROWIDS cannot be the first partition");
  return first;
}

size_t partition_count(const Node& node) {
  return static_cast<size_t>(node.attrs.get<int64_t>("num_row_partition_tensors"));
}

/// Merges what the shape says with the dimensions of the values. `ragged` is the number of dimensions that have partitions.
Result<PartialShape> dense_shape(const PartialShape& said, const PartialShape& values, size_t ragged) {
  if (!values.known_rank()) return said;
  Dims dims(ragged + 1, unknown_dim);
  dims.append(values.dims().subspan(1));
  return merge(said, partial(dims));
}

Status check_default(const PartialShape& value, const PartialShape& values) {
  if (values.has_rank(0)) return invalid_argument("values is a scalar; it must have at least one dimension");
  if (!value.known_rank() || !values.known_rank()) return {};
  if (value.rank() <= values.rank() && (values.rank() != 1 || value.rank() == 0) &&
      broadcast(value, partial(values.dims().subspan(1))))
    return {};
  return invalid_argument("default_value of shape " + value.text() +
                          " does not broadcast to a row of values of shape " + values.text());
}

Status to_tensor_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const bool first, has_first_size(context.node()));
  const size_t count = partition_count(context.node());
  for (size_t i = 0; i < count; ++i)
    TROUPE_RETURN_IF_FAILED(context.with_rank(first_partition + i, i == 0 && first ? 0 : 1).status());
  TROUPE_RETURN_IF_FAILED(check_default(context.input(2), context.input(1)));
  PartialShape said;
  if (!context.input(0).has_rank(0) && context.input(0).known_rank()) {
    TROUPE_ASSIGN(said, shape_from_input(context, 0));
  }
  TROUPE_ASSIGN(PartialShape shape, dense_shape(said, context.input(1), count - (first ? 1 : 0)));
  context.set_output(0, std::move(shape));
  return {};
}

Result<PartialShape> said_shape(const Tensor& shape) {
  if (shape.shape().is_scalar()) {
    TROUPE_ASSIGN(const int64_t value, integer_scalar(shape, "shape"));
    if (value == unknown_dim) return PartialShape();
    return invalid_argument("shape is the scalar " + std::to_string(value) +
                            "; the only scalar allowed is -1");
  }
  TROUPE_ASSIGN(const Dims dims, integer_vector(shape, "shape"));
  return PartialShape::make(std::vector<int64_t>(dims.begin(), dims.end()));
}

Result<ToTensorArguments> check_to_tensor(KernelContext& context) {
  TROUPE_ASSIGN(const bool first, has_first_size(context.node()));
  const size_t count = partition_count(context.node());
  const Tensor &values = context.input(1), &default_value = context.input(2);
  for (size_t i = 0; i < count; ++i)
    if (context.input(first_partition + i).shape().rank() != (i == 0 && first ? 0 : 1))
      return invalid_argument("partition " + std::to_string(i) + " has shape " +
                              context.input(first_partition + i).shape().text() +
                              "; FIRST_DIM_SIZE is a scalar, every other partition a vector");
  TROUPE_RETURN_IF_FAILED(check_default(default_value.shape(), values.shape()));
  TROUPE_ASSIGN(const PartialShape said, said_shape(context.input(0)));
  TROUPE_ASSIGN(const PartialShape shape, dense_shape(said, values.shape(), count - (first ? 1 : 0)));
  return ToTensorArguments{values,
                           default_value,
                           context.input_slots(first_partition, count),
                           context.node().attrs.get<std::vector<std::string>>("row_partition_types"),
                           first,
                           Dims(shape.dims())};
}

// ---- Computing

std::vector<int64_t> run_begins(const std::vector<int64_t>& rows) {
  std::vector<int64_t> begins(rows.size());
  for (size_t i = 1; i < rows.size(); ++i)
    begins[i] = rows[i] == rows[i - 1] ? begins[i - 1] : static_cast<int64_t>(i);
  return begins;
}

/// Fails with InvalidArgument unless the partition, input number i of them, splits at most `elements` rows, in order.
Status check_partition(const Partition& partition, int64_t elements, size_t i) {
  const std::string name = "row_partition_tensors[" + std::to_string(i) + "]";
  if (partition.has_splits) {
    if (static_cast<int64_t>(partition.numbers.size()) - 1 > elements)
      return invalid_argument(name + " splits " + std::to_string(partition.numbers.size() - 1) +
                              " rows, but there are " + std::to_string(elements));
    return check_splits(partition.numbers, partition.numbers.empty() ? 0 : partition.numbers.back(), name);
  }
  int64_t before = 0;
  for (const int64_t row : partition.numbers) {
    if (row < 0 || row >= elements)
      return invalid_argument(name + " has the row " + std::to_string(row) + ", which is not in [0, " +
                              std::to_string(elements) + ")");
    if (row < before)
      return invalid_argument(name + " has the row " + std::to_string(row) + " behind the row " +
                              std::to_string(before) + "; rows must ascend");
    before = row;
  }
  return {};
}

Status measure_to_tensor(ToTensorArguments& arguments, DeviceContext& /*device*/) {
  NestedSplits numbers = nested_splits(arguments.partition_inputs);
  int64_t elements = arguments.has_first_size ? numbers[0][0] : static_cast<int64_t>(numbers[0].size()) - 1;
  if (elements < 0)
    return invalid_argument("the first partition says that there are " + std::to_string(elements) + " rows");
  arguments.rows = elements;
  for (size_t i = arguments.has_first_size ? 1 : 0; i < numbers.size(); ++i) {
    const bool has_splits = arguments.types[i] == "ROW_SPLITS";
    Partition partition{has_splits, std::move(numbers[i]), {}};
    TROUPE_RETURN_IF_FAILED(check_partition(partition, elements, i));
    if (!has_splits) partition.begins = run_begins(partition.numbers);
    elements = partition.elements();
    arguments.partitions.push_back(std::move(partition));
  }
  if (elements == arguments.values.shape()[0]) return {};
  return invalid_argument("values of shape " + arguments.values.shape().text() + " for partitions of " +
                          std::to_string(elements) + " values");
}

Status allocate_to_tensor(ToTensorArguments& arguments, KernelContext& context) {
  Dims& dims = arguments.dims;
  if (dims[0] < 0) dims[0] = arguments.rows;
  for (size_t i = 0; i < arguments.partitions.size(); ++i)
    if (dims[i + 1] < 0) dims[i + 1] = arguments.partitions[i].longest_row();
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, arguments.values.dtype()));
  const auto layout = broadcast_layout(arguments.default_value.shape(), dims);
  if (!layout)
    return invalid_argument("default_value of shape " + arguments.default_value.shape().text() +
                            " does not broadcast to " + shape.text());
  arguments.default_layout = *layout;
  TROUPE_ASSIGN(arguments.output, context.output(0, shape));
  return {};
}

/// Returns the row of the output, counted over all dimensions that have partitions, for a row of the values; nothing if it is
/// beyond the shape.
std::optional<size_t> place_of(const ToTensorArguments& arguments, int64_t element) {
  const Dims& dims = arguments.dims;
  int64_t place = 0, size = 1;
  for (size_t i = arguments.partitions.size(); i-- > 0;) {
    const int64_t row = arguments.partitions[i].row_of(element);
    if (element >= dims[i + 1]) return std::nullopt;
    place += element * size;
    size *= dims[i + 1];
    element = row;
  }
  if (element >= dims[0]) return std::nullopt;
  return static_cast<size_t>(place + element * size);
}

void compute_to_tensor(const ToTensorArguments& arguments, DeviceContext& device) {
  Tensor& output = *arguments.output;
  strided_copy(device.pool(), arguments.dims, arguments.default_value, arguments.default_layout, output,
               {0, strides_of(arguments.dims)});
  const int64_t rows = arguments.values.shape()[0];
  if (arguments.values.elements() == 0) return;
  const auto row = static_cast<size_t>(arguments.values.elements() / rows);
  for (int64_t i = 0; i < rows; ++i)
    if (const auto place = place_of(arguments, i))
      copy_row(arguments.values, static_cast<size_t>(i), output, *place, row);
}

// ---- The gradient

/// Returns the rows of `x` at which the mask, which has its first dimensions, is true.
Output masked(const Scope& scope, Output x, Output mask) {
  return scope.add_one("GatherNd", {x, scope.add_one("Where", {mask})});
}

/// Returns the first dimensions of x as a vector.
Output first_dims(const Scope& scope, Output x, size_t count) {
  const std::array<int64_t, 1> begin{0}, size{static_cast<int64_t>(count)};
  return scope.add_one("Slice", {scope.add_one("Shape", {x}), integer_constants(scope, begin),
                                 integer_constants(scope, size)});
}

/// A dense tensor of the numbers of the values, -1 where there is none, says whence each element comes.
void to_tensor_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const size_t count = partition_count(context.node());
  const size_t ragged = count - (value_or_throw(has_first_size(context.node())) ? 1 : 0);
  const Output values = context.input(1), gradient = context.gradient();
  const Output rows = scope.add_one("Reshape", {first_dims(scope, values, 1), integer_constants(scope, {})});
  std::vector<Output> more = {
      first_dims(scope, gradient, ragged + 1),
      scope.add_one("Range", {integer_constant(scope, 0), rows, integer_constant(scope, 1)}),
      integer_constant(scope, -1)};
  const std::vector<Output> inputs = context.node().inputs;
  more.insert(more.end(), inputs.begin() + first_partition, inputs.end());
  const Output numbers =
      scope.add_one("RaggedTensorToTensor", std::move(more),
                    {{"num_row_partition_tensors", static_cast<int64_t>(count)},
                     {"row_partition_types", context.attr<std::vector<std::string>>("row_partition_types")}});
  const Output none = equal(scope, numbers, -1), some = logical_not(scope, none);
  context.set(
      1, IndexedSlices{masked(scope, gradient, some), masked(scope, numbers, some), shape_of(scope, values)});
  context.set(2, summed_to_shape_of(scope, masked(scope, gradient, none), context.input(2)));
}

}  // namespace

void add_ragged_to_tensor(OpLibrary& library) {
  library.op(OpDefBuilder("RaggedTensorToTensor")
                 .host_input("shape: Tshape")
                 .input("values: T")
                 .input("default_value: T")
                 .input("row_partition_tensors: num_row_partition_tensors * Tindex")
                 .output("result: T")
                 .attr("T: type")
                 .attr("Tindex: {int64, int32}")
                 .attr("Tshape: {int64, int32}")
                 .attr("num_row_partition_tensors: int")
                 .attr("row_partition_types: list(string)")
                 .shape(to_tensor_shape)
                 .gradient(to_tensor_gradient));
  library.kernel(measured_cpu_kernel("RaggedTensorToTensor", check_to_tensor, measure_to_tensor,
                                     allocate_to_tensor, compute_to_tensor));
}

}  // namespace troupe

// Operations on the sets of two tensors of rank 2 or more: a set is the distinct values in the last dimension, and the other
// dimensions, which are equal, count sets.
//   DenseToDenseSetOperation(set1, set2),
//   DenseToSparseSetOperation(set1, set2_indices, set2_values, set2_shape),
//   SparseToSparseSetOperation(set1_indices, set1_values, set1_shape, set2_indices, set2_values, set2_shape)
// set_operation is "a-b", "b-a", "intersection" or "union", in letters of either case. The result is sparse: the values of each set
// ascend and fill its row from the beginning; the last dimension is the size of the greatest set. Integers of up to 16 bits, int32,
// int64 and strings. InvalidArgument for positions that are outside of the shape, repeated or not in row-major order, whatever
// validate_indices says, as in TensorFlow.
#include <array>
#include <iterator>
#include <limits>

#include "graph/build/signature.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/scratch.h"
#include "kernels/ops/sparse/sets.h"

namespace troupe {
namespace {

enum class Operation : uint8_t { AMinusB, BMinusA, Intersection, Union };

Result<Operation> operation_of(const Node& node) {
  const auto& text = node.attrs.get<std::string>("set_operation");
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  constexpr std::array names = {"a-b", "b-a", "intersection", "union"};
  const auto found = std::ranges::find(names, lower);
  if (found != names.end()) return static_cast<Operation>(found - names.begin());
  return invalid_argument("set_operation is '" + text + "', expected a-b, b-a, intersection or union");
}

/// The first inputs of the two tensors, and whether each is sparse.
struct Operands {
  size_t second = 1;
  bool first_is_sparse = false, second_is_sparse = false;
};
Operands operands_of(size_t inputs) { return {inputs == 6 ? size_t{3} : 1, inputs == 6, inputs > 2}; }

/// What is known of the dimensions that count sets, and of the size: those of a sparse tensor are known if they are constants.
Result<PartialShape> sets_shape(const ShapeContext& context, size_t first, bool is_sparse) {
  const std::string name = argument_name(context.node(), is_sparse ? first + 2 : first);
  PartialShape shape = context.input(first);
  if (is_sparse) {
    TROUPE_ASSIGN(const PartialShape indices, sparse_shape(context, SparseInputs::from(first)));
    if (indices[1] == unknown_dim) return PartialShape();
    TROUPE_RETURN_IF_FAILED(check_set_rank(static_cast<size_t>(indices[1]), name));
    if (indices[1] > static_cast<int64_t>(Shape::max_rank))
      return invalid_argument(name + " has " + std::to_string(indices[1]) +
                              " elements, at most 255 are allowed");
    const auto dims = context.constant_integers(first + 2);
    if (!dims) return PartialShape::of_rank(static_cast<size_t>(indices[1]));
    TROUPE_RETURN_IF_FAILED(check_dense_shape(*dims, name));
    shape = partial(*dims);
  }
  if (shape.known_rank()) TROUPE_RETURN_IF_FAILED(check_set_rank(shape.rank(), name));
  return shape;
}

Status check_counts(std::span<const int64_t> a, std::span<const int64_t> b) {
  const PartialShape left = partial(a), right = partial(b);
  const bool fit =
      a.size() == b.size() && partial(a.first(a.size() - 1)).compatible_with(partial(b.first(b.size() - 1)));
  if (fit) return {};
  return invalid_argument("sets in tensors of shapes " + left.text() + " and " + right.text() +
                          " do not match: all dimensions but the last must be equal");
}

Status set_operation_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(operation_of(context.node()).status());
  const Operands operands = operands_of(context.inputs());
  TROUPE_ASSIGN(const PartialShape a, sets_shape(context, 0, operands.first_is_sparse));
  TROUPE_ASSIGN(const PartialShape b, sets_shape(context, operands.second, operands.second_is_sparse));
  if (a.known_rank() && b.known_rank()) TROUPE_RETURN_IF_FAILED(check_counts(a.dims(), b.dims()));
  const PartialShape& known = a.known_rank() ? a : b;
  const int64_t rank = known.known_rank() ? static_cast<int64_t>(known.rank()) : unknown_dim;
  context.set_output(0, PartialShape{unknown_dim, rank});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, PartialShape{rank});
  return {};
}

/// Measuring finds the values of the result; computing writes them.
struct SetOperationArguments {
  Sets a, b;
  Operation operation;
  /// int64 [n, 3]: for each value its set, its place in the set, and its number, where those of b come after those of a.
  Tensor found = {};
  int64_t count = 0;     ///< how many values were found
  int64_t greatest = 0;  ///< the size of the greatest set
  Tensor *indices = nullptr, *values = nullptr;
};

Result<SetOperationArguments> check_set_operation(KernelContext& context) {
  TROUPE_ASSIGN(const Operation operation, operation_of(context.node()));
  const Operands operands = operands_of(context.inputs());
  TROUPE_ASSIGN(Sets a, operands.first_is_sparse ? sparse_sets(context, 0) : dense_sets(context, 0));
  TROUPE_ASSIGN(Sets b, operands.second_is_sparse ? sparse_sets(context, operands.second)
                                                  : dense_sets(context, operands.second));
  TROUPE_RETURN_IF_FAILED(check_counts(a.dims, b.dims));
  return SetOperationArguments{std::move(a), std::move(b), operation};
}

template <class Less>
void combine(Operation operation, const Members& a, const Members& b, const Less& less, Members& result) {
  result.clear();
  const auto to = std::back_inserter(result);
  switch (operation) {
    case Operation::AMinusB: std::ranges::set_difference(a, b, to, less); break;
    case Operation::BMinusA: std::ranges::set_difference(b, a, to, less); break;
    case Operation::Intersection: std::ranges::set_intersection(a, b, to, less); break;
    case Operation::Union: std::ranges::set_union(a, b, to, less); break;
  }
}

/// Finds the values of the result, set by set. The values of b are numbered after those of a.
template <class T>
void find_values(SetOperationArguments& arguments) {
  const Sets &a = arguments.a, &b = arguments.b;
  const auto of_a = a.values.as<T>(), of_b = b.values.as<T>();
  const auto value = [&](size_t i) -> const T& { return i < of_a.size() ? of_a[i] : of_b[i - of_a.size()]; };
  const auto less = [&](size_t i, size_t j) { return value(i) < value(j); };
  int64_t* to = arguments.found.write<int64_t>().data();
  Members left, right, result;
  size_t i = 0, j = 0;
  while (i < a.count() || j < b.count()) {
    constexpr int64_t none = std::numeric_limits<int64_t>::max();
    const int64_t set = std::min(i < a.count() ? a.set_of(i) : none, j < b.count() ? b.set_of(j) : none);
    const size_t end_of_a = a.end_of_set(i, set), end_of_b = b.end_of_set(j, set);
    sort_members(i, end_of_a, less, left);
    sort_members(of_a.size() + j, of_a.size() + end_of_b, less, right);
    combine(arguments.operation, left, right, less, result);
    for (size_t place = 0; place < result.size(); ++place) {
      *to++ = set;
      *to++ = static_cast<int64_t>(place);
      *to++ = static_cast<int64_t>(result[place]);
    }
    arguments.count += static_cast<int64_t>(result.size());
    arguments.greatest = std::max(arguments.greatest, static_cast<int64_t>(result.size()));
    i = end_of_a;
    j = end_of_b;
  }
}

Status measure_set_operation(SetOperationArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(number_values(arguments.a, device));
  TROUPE_RETURN_IF_FAILED(number_values(arguments.b, device));
  const auto most = static_cast<int64_t>(arguments.a.count() + arguments.b.count());
  TROUPE_ASSIGN(arguments.found, scratch_vector<int64_t>(device, 3 * most));
  with_type(SetTypes{}, arguments.a.values.dtype(),
            [&]<class T>(std::type_identity<T>) { find_values<T>(arguments); });
  return {};
}

Status allocate_set_operation(SetOperationArguments& arguments, KernelContext& context) {
  Dims dims = arguments.a.dims;
  dims.back() = arguments.greatest;
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, arguments.count, dims.size()));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, arguments.count));
  return set_shape_output(context, 2, dims);
}

void compute_set_operation(const SetOperationArguments& arguments, DeviceContext&) {
  const Sets &a = arguments.a, &b = arguments.b;
  const size_t rank = a.dims.size();
  const auto found = arguments.found.as<int64_t>();
  int64_t* const indices = arguments.indices->write<int64_t>().data();
  with_type(SetTypes{}, a.values.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto of_a = a.values.as<T>(), of_b = b.values.as<T>();
    const auto to = arguments.values->write<T>();
    for (size_t k = 0; k < to.size(); ++k) {
      int64_t set = found[3 * k];
      indices[k * rank + rank - 1] = found[3 * k + 1];
      for (size_t d = rank - 1; d-- > 0; set /= a.dims[d]) indices[k * rank + d] = set % a.dims[d];
      const auto number = static_cast<size_t>(found[3 * k + 2]);
      to[k] = number < of_a.size() ? of_a[number] : of_b[number - of_a.size()];
    }
  });
}

void add_set_operation(OpLibrary& library, const char* name, const Operands& operands) {
  OpDefBuilder op(name);
  const auto add_operand = [&](const std::string& set, bool is_sparse) {
    if (!is_sparse) op.input(set + ": T");
    if (is_sparse)
      op.input(set + "_indices: int64").input(set + "_values: T").host_input(set + "_shape: int64");
  };
  add_operand("set1", operands.first_is_sparse);
  add_operand("set2", operands.second_is_sparse);
  library.op(op.output("result_indices: int64")
                 .output("result_values: T")
                 .host_output("result_shape: int64")
                 .attr("set_operation: string")
                 .attr("validate_indices: bool = true")
                 .attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
                 .shape(set_operation_shape)
                 .not_differentiable());
  library.kernel(measured_cpu_kernel(name, check_set_operation, measure_set_operation, allocate_set_operation,
                                     compute_set_operation));
}

}  // namespace

void add_set_operations(OpLibrary& library) {
  add_set_operation(library, "DenseToDenseSetOperation", operands_of(2));
  add_set_operation(library, "DenseToSparseSetOperation", operands_of(4));
  add_set_operation(library, "SparseToSparseSetOperation", operands_of(6));
}

}  // namespace troupe

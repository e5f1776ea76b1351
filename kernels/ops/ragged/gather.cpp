// RaggedGather(params_nested_splits, params_dense_values, indices): rows of a ragged tensor by number. The result has the
// dimensions of indices in front of those of a row: output_nested_splits and output_dense_values. Splits may leave out values
// at both ends. Fails with InvalidArgument for an index that is no number of a row, and for splits that do not ascend or
// point beyond what they split.
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/ops/ragged/splits.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

/// Elements begin to end - 1 of a dimension.
struct Run {
  int64_t begin, end;
};

/// Measuring counts; computing copies.
struct RaggedGatherArguments {
  std::span<const Slot> splits_inputs;
  const Tensor &values, &indices;
  NestedSplits splits = {};
  /// The number of rows of each dimension of the result that has splits, then that of the values.
  std::vector<int64_t> sizes = {};
  std::vector<Tensor*> outputs = {};
};

size_t params_rank(const Node& node) {
  return static_cast<size_t>(node.attrs.get<int64_t>("PARAMS_RAGGED_RANK"));
}

Status check_ranks(const Node& node, size_t indices_rank) {
  const auto rank = node.attrs.get<int64_t>("OUTPUT_RAGGED_RANK");
  const auto expected = static_cast<int64_t>(params_rank(node) + indices_rank) - 1;
  if (rank == expected) return {};
  return invalid_argument("OUTPUT_RAGGED_RANK is " + std::to_string(rank) + ", expected " +
                          std::to_string(expected) + ": that of params, and the rank of indices, less 1");
}

Status ragged_gather_shape(ShapeContext& context) {
  const size_t rank = params_rank(context.node()), splits = context.node().output_types.size() - 1;
  TROUPE_RETURN_IF_FAILED(check_ragged_shapes(context, rank));
  const PartialShape &values = context.input(rank), &indices = context.input(rank + 1);
  if (indices.known_rank()) TROUPE_RETURN_IF_FAILED(check_ranks(context.node(), indices.rank()));
  for (size_t i = 0; i < splits; ++i) context.set_output(i, PartialShape{unknown_dim});
  if (values.known_rank())
    context.set_output(splits, partial(Dims(values.dims().subspan(1)).with(0, unknown_dim)));
  return {};
}

Result<RaggedGatherArguments> check_ragged_gather(KernelContext& context) {
  const size_t rank = params_rank(context.node());
  TROUPE_RETURN_IF_FAILED(check_ragged(context, rank));
  const Tensor& indices = context.input(rank + 1);
  TROUPE_RETURN_IF_FAILED(check_ranks(context.node(), indices.shape().rank()));
  return RaggedGatherArguments{context.input_slots(0, rank), context.input(rank), indices};
}

Status check_params(const RaggedGatherArguments& arguments) {
  const NestedSplits& splits = arguments.splits;
  for (size_t i = 0; i < splits.size(); ++i) {
    const bool is_last = i + 1 == splits.size();
    const int64_t limit =
        is_last ? arguments.values.shape()[0] : static_cast<int64_t>(splits[i + 1].size()) - 1;
    TROUPE_RETURN_IF_FAILED(
        check_ascending_splits(splits[i], limit, "params_nested_splits[" + std::to_string(i) + "]"));
  }
  return check_indices(arguments.indices, static_cast<int64_t>(splits[0].size()) - 1);
}

/// Calls visit(level, run) for what an index takes of each dimension: of the rows, of each further dimension, of the values.
template <class Visit>
void visit_runs(const NestedSplits& splits, int64_t index, const Visit& visit) {
  Run run{index, index + 1};
  visit(size_t{0}, run);
  for (size_t i = 0; i < splits.size(); ++i) {
    run = {splits[i][static_cast<size_t>(run.begin)], splits[i][static_cast<size_t>(run.end)]};
    visit(i + 1, run);
  }
}

Status measure_ragged_gather(RaggedGatherArguments& arguments, DeviceContext& /*device*/) {
  arguments.splits = nested_splits(arguments.splits_inputs);
  TROUPE_RETURN_IF_FAILED(check_params(arguments));
  constexpr int64_t most = int64_t{1} << 60;
  std::vector<int64_t> sizes(arguments.splits.size() + 1);
  for (const int64_t index : integers(arguments.indices)) {
    visit_runs(arguments.splits, index,
               [&](size_t level, const Run& run) { sizes[level] += run.end - run.begin; });
    if (std::ranges::any_of(sizes, [](int64_t size) { return size > most; }))
      return resource_exhausted("the rows have more than 2^60 elements");
  }
  const Shape& indices = arguments.indices.shape();
  int64_t size = 1;
  for (size_t i = 0; i + 1 < indices.rank(); ++i) arguments.sizes.push_back(size *= indices[i]);
  arguments.sizes.insert(arguments.sizes.end(), sizes.begin() + (indices.rank() == 0 ? 1 : 0), sizes.end());
  return {};
}

Status allocate_ragged_gather(RaggedGatherArguments& arguments, KernelContext& context) {
  const size_t splits = arguments.sizes.size() - 1;
  for (size_t i = 0; i < splits; ++i) {
    TROUPE_RETURN_IF_FAILED(check_fits(arguments.sizes[i + 1], context.node().output_types[i].dtype));
    TROUPE_ASSIGN(Tensor* const output, vector_output(context, i, arguments.sizes[i] + 1));
    arguments.outputs.push_back(output);
  }
  const Dims row(arguments.values.shape().dims().subspan(1));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(row.with(0, arguments.sizes.back()), arguments.values.dtype()));
  TROUPE_ASSIGN(Tensor* const values, context.output(splits, shape));
  arguments.outputs.push_back(values);
  return {};
}

/// Writes the splits of dimensions all of whose rows have one size.
template <class T>
void write_regular_splits(Tensor& output, int64_t size) {
  const auto splits = output.write<T>();
  for (size_t i = 0; i < splits.size(); ++i) splits[i] = static_cast<T>(static_cast<int64_t>(i) * size);
}

template <class T>
void write_gathered_splits(const RaggedGatherArguments& arguments) {
  const Shape& indices = arguments.indices.shape();
  const size_t regular = std::max<size_t>(indices.rank(), 1) - 1, skipped = indices.rank() == 0 ? 1 : 0;
  for (size_t i = 0; i < regular; ++i) write_regular_splits<T>(*arguments.outputs[i], indices[i + 1]);
  const NestedSplits& splits = arguments.splits;
  std::vector<size_t> at(splits.size());
  for (size_t level = skipped; level < splits.size(); ++level)
    arguments.outputs[regular + level - skipped]->write<T>()[0] = 0;
  for (const int64_t index : integers(arguments.indices))
    visit_runs(splits, index, [&](size_t level, const Run& run) {
      if (level < skipped || level >= splits.size()) return;
      const auto to = arguments.outputs[regular + level - skipped]->write<T>();
      for (auto row = static_cast<size_t>(run.begin); row < static_cast<size_t>(run.end); ++row, ++at[level])
        to[at[level] + 1] = static_cast<T>(to[at[level]] + splits[level][row + 1] - splits[level][row]);
    });
}

void copy_values(const RaggedGatherArguments& arguments) {
  Tensor& output = *arguments.outputs.back();
  if (output.elements() == 0) return;
  const auto row = static_cast<size_t>(output.elements() / output.shape()[0]);
  with_storage(output.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const from = reinterpret_cast<const T*>(arguments.values.data());
    T* to = reinterpret_cast<T*>(output.mutable_data());
    for (const int64_t index : integers(arguments.indices))
      visit_runs(arguments.splits, index, [&](size_t level, const Run& run) {
        if (level != arguments.splits.size()) return;
        to = std::copy(from + static_cast<size_t>(run.begin) * row, from + static_cast<size_t>(run.end) * row,
                       to);
      });
  });
}

Status compute_ragged_gather(const RaggedGatherArguments& arguments, DeviceContext& /*device*/) {
  if (arguments.outputs.size() > 1)
    with_type(SplitTypes{}, arguments.outputs[0]->dtype(),
              [&]<class T>(std::type_identity<T>) { write_gathered_splits<T>(arguments); });
  copy_values(arguments);
  return {};
}

/// Returns elements `indices` of a vector.
Output taken(const Scope& scope, Output vector, Output indices) {
  return scope.add_one("GatherV2", {vector, indices, integer_constant(scope, 0)});
}

/// The values are rows of those of params: each index takes those between the splits of its row.
void ragged_gather_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const size_t rank = params_rank(context.node());
  Output splits = context.input(0);
  for (size_t i = 1; i < rank; ++i) splits = taken(scope, context.input(i), splits);
  const DType dtype = scope.dtype(splits);
  const Output indices = scope.add_one(
      "Reshape", {context.input(rank + 1), integer_constants(scope, std::array<int64_t, 1>{-1})});
  const Output next = add(scope, indices, 1);
  const NodeId rows = scope.add("RaggedRange", {taken(scope, splits, indices), taken(scope, splits, next),
                                                integer_constant(scope, 1, dtype)});
  context.set(rank, IndexedSlices{context.gradient(context.node().output_types.size() - 1),
                                  scope.graph().output(rows, 1), shape_of(scope, context.input(rank))});
}

}  // namespace

void add_ragged_gather(OpLibrary& library) {
  library.op(OpDefBuilder("RaggedGather")
                 .input("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits")
                 .input("params_dense_values: Tvalues")
                 .input("indices: Tindices")
                 .output("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits")
                 .output("output_dense_values: Tvalues")
                 .attr("Tvalues: type")
                 .attr("Tindices: {int32, int64}")
                 .attr("Tsplits: {int32, int64} = int64")
                 .attr("PARAMS_RAGGED_RANK: int >= 1")
                 .attr("OUTPUT_RAGGED_RANK: int >= 0")
                 .shape(ragged_gather_shape)
                 .gradient(ragged_gather_gradient));
  library.kernel(measured_cpu_kernel("RaggedGather", check_ragged_gather, measure_ragged_gather,
                                     allocate_ragged_gather, compute_ragged_gather));
}

}  // namespace troupe

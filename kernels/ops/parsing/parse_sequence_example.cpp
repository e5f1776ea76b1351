// Serialized SequenceExamples become tensors. Their context is an Example, whose features are parsed as by ParseExample
// (parse_example.cpp); beside it stand lists of features, one Feature for each row.
//   ParseSequenceExample(serialized, debug_name, context_dense_defaults...)       of a vector of strings; the keys are attributes
//   ParseSequenceExampleV2(serialized, debug_name, context_sparse_keys, context_dense_keys, context_ragged_keys,
//       feature_list_sparse_keys, feature_list_dense_keys, feature_list_ragged_keys, feature_list_dense_missing_assumed_empty,
//       context_dense_defaults...)                                                of a vector or a scalar
//   ParseSingleSequenceExample(serialized, feature_list_dense_missing_assumed_empty, context_sparse_keys..., context_dense_keys...,
//       feature_list_sparse_keys..., feature_list_dense_keys..., context_dense_defaults..., debug_name)          of a scalar
// A dense list has a row of the same shape for each Feature; the result [examples, most rows, shape] is filled up with 0 or "", and
// the number of rows of each example is an output, too (not of ParseSingleSequenceExample). A missing one is an error unless it may
// be taken as empty. A sparse list yields indices [example, row, value], values and the dense shape. A ragged one yields the
// values, the splits of examples into rows (for a scalar: the number of rows, which TensorFlow leaves uninitialised) and of rows
// into values. Of a scalar the outputs have no dimension for the batch. Errors are like those of ParseExample.
// Source: tensorflow/core/util/example_proto_fast_parsing.cc, tensorflow/core/kernels/example_parsing_ops.cc.
#include <algorithm>

#include "kernels/ops/parsing/feature_lists.h"

namespace troupe {
namespace {

using namespace parsing;  // NOLINT: the room's own helpers
using Keys = std::vector<std::string_view>;

// ---- Checks

/// What one of the ops asks for.
struct Wanted {
  Keys context_sparse, context_dense, context_ragged = {};
  Keys list_sparse, list_dense, list_ragged = {};
  std::vector<bool> list_may_be_missing = {};  ///< for each dense list
  size_t defaults = 0;                         ///< the first input that is a default
  bool has_lengths = true;                     ///< whether the numbers of rows are outputs
};

/// Returns the dense lists, whose values are the outputs from `next` on and whose numbers of rows those behind them.
Result<std::vector<List>> dense_lists(const Node& node, const Wanted& wanted, size_t next) {
  std::vector<List> lists;
  const auto& shapes = node.attrs.get<std::vector<PartialShape>>("feature_list_dense_shapes");
  const Types& dtypes = types(node, "feature_list_dense_types");
  for (size_t i = 0; i < wanted.list_dense.size(); ++i) {
    TROUPE_ASSIGN(const Shape shape, shapes[i].to_shape(dtypes[i]));
    lists.push_back({.key = wanted.list_dense[i],
                     .dtype = dtypes[i],
                     .form = Form::Dense,
                     .values = next + i,
                     .shape = wanted.has_lengths ? next + wanted.list_dense.size() + i : 0,
                     .dims = Dims(shape.dims()),
                     .elements = shape.elements(),
                     .may_be_missing = wanted.list_may_be_missing[i]});
  }
  return lists;
}

Result<std::vector<List>> lists_of(const Node& node, const Wanted& wanted, size_t next) {
  const size_t sparse = wanted.list_sparse.size(), ragged = wanted.list_ragged.size();
  TROUPE_ASSIGN(std::vector<List> lists, dense_lists(node, wanted, next + 3 * sparse));
  for (size_t i = 0; i < sparse; ++i)
    lists.push_back({.key = wanted.list_sparse[i],
                     .dtype = types(node, "feature_list_sparse_types")[i],
                     .form = Form::Sparse,
                     .values = next + sparse + i,
                     .indices = next + i,
                     .shape = next + 2 * sparse + i});
  next += 3 * sparse + (wanted.has_lengths ? 2 : 1) * wanted.list_dense.size();
  for (size_t i = 0; i < ragged; ++i)
    lists.push_back({.key = wanted.list_ragged[i],
                     .dtype = types(node, "feature_list_ragged_value_types")[i],
                     .form = Form::Ragged,
                     .values = next + i,
                     .indices = next + ragged + i,
                     .shape = next + 2 * ragged + i});
  return lists;
}

Result<SequenceArguments> arguments_of(const KernelContext& context, const Examples& examples,
                                       const Wanted& wanted) {
  const Node& node = context.node();
  FeatureList features;
  features.add_sparse(wanted.context_sparse, types(node, "context_sparse_types"));
  TROUPE_RETURN_IF_FAILED(
      features.add_dense(context, wanted.context_dense, "context_dense_shapes", wanted.defaults, false));
  if (!wanted.context_ragged.empty())
    features.add_ragged(wanted.context_ragged, types(node, "context_ragged_value_types"));
  TROUPE_ASSIGN(std::vector<List> lists, lists_of(node, wanted, features.next_output()));
  TROUPE_ASSIGN(ExampleArguments arguments, std::move(features).arguments(examples));
  Keys keys;
  for (const List& list : lists) keys.push_back(list.key);
  TROUPE_ASSIGN(KeyTable table, KeyTable::make(std::move(keys)));
  return SequenceArguments{std::move(arguments), std::move(lists), std::move(table)};
}

/// Returns for each dense list whether its key is among `empty`.
template <class Names>
std::vector<bool> may_be_missing(const Keys& keys, const Names& empty) {
  std::vector<bool> result;
  for (const std::string_view key : keys) result.push_back(std::ranges::find(empty, key) != empty.end());
  return result;
}

Result<SequenceArguments> check_sequence_example(KernelContext& context) {
  const Node& node = context.node();
  TROUPE_ASSIGN(const Examples examples, read_examples(context, 1));
  if (!examples.batched) return invalid_argument("serialized is a scalar; it must be a vector");
  Wanted wanted{.context_sparse = keys_of_attr(node, "context_sparse_keys"),
                .context_dense = keys_of_attr(node, "context_dense_keys"),
                .list_sparse = keys_of_attr(node, "feature_list_sparse_keys"),
                .list_dense = keys_of_attr(node, "feature_list_dense_keys"),
                .defaults = 2};
  wanted.list_may_be_missing =
      may_be_missing(wanted.list_dense, keys_of_attr(node, "feature_list_dense_missing_assumed_empty"));
  return arguments_of(context, examples, wanted);
}

Result<SequenceArguments> check_sequence_example_v2(KernelContext& context) {
  const Node& node = context.node();
  const auto keys = [&](size_t input, const char* attr) {
    return keys_of_vector(context, input, types(node, attr).size());
  };
  TROUPE_ASSIGN(const Examples examples, read_examples(context, 1));
  TROUPE_ASSIGN(Keys context_sparse, keys(2, "context_sparse_types"));
  TROUPE_ASSIGN(Keys context_dense, keys(3, "Tcontext_dense"));
  TROUPE_ASSIGN(Keys context_ragged, keys(4, "context_ragged_value_types"));
  TROUPE_ASSIGN(Keys list_sparse, keys(5, "feature_list_sparse_types"));
  TROUPE_ASSIGN(Keys list_dense, keys(6, "feature_list_dense_types"));
  TROUPE_ASSIGN(Keys list_ragged, keys(7, "feature_list_ragged_value_types"));
  const Tensor& missing = context.input(8);
  if (missing.shape().rank() != 1 || missing.elements() != static_cast<int64_t>(list_dense.size()))
    return invalid_argument("feature_list_dense_missing_assumed_empty has shape " + missing.shape().text() +
                            "; it must have an element for each of the " + std::to_string(list_dense.size()) +
                            " dense lists");
  const auto may_be_missing = missing.as<bool>();
  return arguments_of(context, examples,
                      {.context_sparse = std::move(context_sparse),
                       .context_dense = std::move(context_dense),
                       .context_ragged = std::move(context_ragged),
                       .list_sparse = std::move(list_sparse),
                       .list_dense = std::move(list_dense),
                       .list_ragged = std::move(list_ragged),
                       .list_may_be_missing = {may_be_missing.begin(), may_be_missing.end()},
                       .defaults = 9});
}

Result<SequenceArguments> check_single_sequence_example(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& serialized = context.input(0);
  const Tensor& name = context.input(context.inputs() - 1);
  if (!serialized.shape().is_scalar() || !name.shape().is_scalar())
    return invalid_argument("serialized has shape " + serialized.shape().text() + ", debug_name " +
                            name.shape().text() + "; both must be scalars");
  if (context.input(1).shape().rank() != 1)
    return invalid_argument("feature_list_dense_missing_assumed_empty has shape " +
                            context.input(1).shape().text() + "; it must be a vector");
  size_t next = 2;
  const auto keys = [&](const char* number_attr) {
    const auto count = static_cast<size_t>(node.attrs.get<int64_t>(number_attr));
    next += count;
    return keys_of_scalars(context, next - count, count);
  };
  TROUPE_ASSIGN(Keys context_sparse, keys("Ncontext_sparse"));
  TROUPE_ASSIGN(Keys context_dense, keys("Ncontext_dense"));
  TROUPE_ASSIGN(Keys list_sparse, keys("Nfeature_list_sparse"));
  TROUPE_ASSIGN(Keys list_dense, keys("Nfeature_list_dense"));
  auto missing = may_be_missing(list_dense, context.input(1).as<std::string>());
  const auto names = name.as<std::string>();
  return arguments_of(context,
                      {serialized.as<std::string>(), names[0].empty() ? names.first(0) : names, false},
                      {.context_sparse = std::move(context_sparse),
                       .context_dense = std::move(context_dense),
                       .list_sparse = std::move(list_sparse),
                       .list_dense = std::move(list_dense),
                       .list_may_be_missing = std::move(missing),
                       .defaults = next,
                       .has_lengths = false});
}

// ---- Shapes

/// Checks the lists of all three ops. The numbers of arguments are attributes by these names.
Status check_all_lengths(const Node& node) {
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Ncontext_sparse", "context_sparse_types"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Tcontext_dense", "context_dense_shapes"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Nfeature_list_sparse", "feature_list_sparse_types"}));
  return check_lengths(node,
                       {"Nfeature_list_dense", "feature_list_dense_types", "feature_list_dense_shapes"});
}

FeatureShapes context_shapes(ShapeContext& context, const PartialShape& batch) {
  FeatureShapes shapes(context, batch);
  shapes.add_sparse(types(context.node(), "context_sparse_types").size(), 1);
  shapes.add_dense("context_dense_shapes", 0);
  return shapes;
}

void add_list_shapes(const Node& node, bool has_lengths, FeatureShapes& shapes) {
  shapes.add_sparse(types(node, "feature_list_sparse_types").size(), 2);
  shapes.add_dense("feature_list_dense_shapes", 1);
  if (has_lengths) shapes.add_each(types(node, "feature_list_dense_types").size(), shapes.batch());
}

Status sequence_example_shape(ShapeContext& context) {
  const Node& node = context.node();
  TROUPE_RETURN_IF_FAILED(check_all_lengths(node));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Ncontext_sparse", "context_sparse_keys"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Ncontext_dense", "context_dense_keys", "Tcontext_dense"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Nfeature_list_sparse", "feature_list_sparse_keys"}));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Nfeature_list_dense", "feature_list_dense_keys"}));
  TROUPE_ASSIGN(const PartialShape batch, context.with_rank(0, 1));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  FeatureShapes shapes = context_shapes(context, batch);
  add_list_shapes(node, true, shapes);
  return {};
}

Status sequence_example_v2_shape(ShapeContext& context) {
  const Node& node = context.node();
  TROUPE_RETURN_IF_FAILED(check_all_lengths(node));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"context_ragged_value_types", "context_ragged_split_types"}));
  TROUPE_RETURN_IF_FAILED(
      check_lengths(node, {"feature_list_ragged_value_types", "feature_list_ragged_split_types"}));
  const PartialShape& batch = context.input(0);
  const size_t ragged = types(node, "context_ragged_value_types").size(),
               lists = types(node, "feature_list_ragged_value_types").size();
  FeatureShapes shapes = context_shapes(context, batch);
  shapes.add_each(ragged, PartialShape{unknown_dim});
  const bool known = batch.has_rank(1) && batch[0] != unknown_dim;
  const PartialShape splits{known ? batch[0] + 1 : unknown_dim};
  const PartialShape outer = batch.has_rank(1) ? splits : batch.has_rank(0) ? batch : PartialShape{};
  shapes.add_each(ragged, batch.has_rank(0) ? PartialShape{0} : splits);
  add_list_shapes(node, true, shapes);
  shapes.add_each(lists, PartialShape{unknown_dim});
  shapes.add_each(lists, outer);
  shapes.add_each(lists, PartialShape{unknown_dim});
  return {};
}

Status single_sequence_example_shape(ShapeContext& context) {
  const Node& node = context.node();
  TROUPE_RETURN_IF_FAILED(check_all_lengths(node));
  TROUPE_RETURN_IF_FAILED(check_lengths(node, {"Ncontext_dense", "Tcontext_dense"}));
  TROUPE_ASSIGN(const PartialShape batch, context.with_rank(0, 0));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  FeatureShapes shapes = context_shapes(context, batch);
  add_list_shapes(node, false, shapes);
  return {};
}

// ---- Definitions

/// Adds the attributes that all three ops have.
OpDefBuilder& add_types(OpDefBuilder& op) {
  return op.attr("Ncontext_sparse: int >= 0 = 0")
      .attr("Nfeature_list_sparse: int >= 0 = 0")
      .attr("Nfeature_list_dense: int >= 0 = 0")
      .attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
      .attr("context_dense_shapes: list(shape) >= 0 = []")
      .attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_dense_shapes: list(shape) >= 0 = []");
}

/// Adds the outputs of the context that all three ops have, and those of the lists.
OpDefBuilder& add_context_outputs(OpDefBuilder& op) {
  return op.output("context_sparse_indices: Ncontext_sparse * int64")
      .output("context_sparse_values: context_sparse_types")
      .host_output("context_sparse_shapes: Ncontext_sparse * int64")
      .output("context_dense_values: Tcontext_dense");
}
OpDefBuilder& add_list_outputs(OpDefBuilder& op) {
  return op.output("feature_list_sparse_indices: Nfeature_list_sparse * int64")
      .output("feature_list_sparse_values: feature_list_sparse_types")
      .host_output("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
      .output("feature_list_dense_values: feature_list_dense_types");
}

OpDefBuilder sequence_example() {
  OpDefBuilder op("ParseSequenceExample");
  op.input("serialized: string").input("debug_name: string").input("context_dense_defaults: Tcontext_dense");
  add_list_outputs(add_context_outputs(op));
  op.output("feature_list_dense_lengths: Nfeature_list_dense * int64")
      .attr("feature_list_dense_missing_assumed_empty: list(string) >= 0")
      .attr("context_sparse_keys: list(string) >= 0")
      .attr("context_dense_keys: list(string) >= 0")
      .attr("feature_list_sparse_keys: list(string) >= 0")
      .attr("feature_list_dense_keys: list(string) >= 0")
      .attr("Ncontext_dense: int >= 0 = 0");
  return add_types(op).shape(sequence_example_shape);
}

OpDefBuilder sequence_example_v2() {
  OpDefBuilder op("ParseSequenceExampleV2");
  op.input("serialized: string").input("debug_name: string");
  for (const char* const keys :
       {"context_sparse_keys", "context_dense_keys", "context_ragged_keys", "feature_list_sparse_keys",
        "feature_list_dense_keys", "feature_list_ragged_keys"})
    op.host_input(std::string(keys) + ": string");
  op.host_input("feature_list_dense_missing_assumed_empty: bool")
      .input("context_dense_defaults: Tcontext_dense");
  add_context_outputs(op)
      .output("context_ragged_values: context_ragged_value_types")
      .output("context_ragged_row_splits: context_ragged_split_types");
  add_list_outputs(op)
      .output("feature_list_dense_lengths: Nfeature_list_dense * int64")
      .output("feature_list_ragged_values: feature_list_ragged_value_types")
      .output("feature_list_ragged_outer_splits: feature_list_ragged_split_types")
      .output("feature_list_ragged_inner_splits: feature_list_ragged_split_types")
      .attr("context_ragged_value_types: list({float, int64, string}) >= 0 = []")
      .attr("context_ragged_split_types: list({int32, int64}) >= 0 = []")
      .attr("feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_ragged_split_types: list({int32, int64}) >= 0 = []");
  return add_types(op).shape(sequence_example_v2_shape);
}

OpDefBuilder single_sequence_example() {
  OpDefBuilder op("ParseSingleSequenceExample");
  op.input("serialized: string")
      .host_input("feature_list_dense_missing_assumed_empty: string")
      .host_input("context_sparse_keys: Ncontext_sparse * string")
      .host_input("context_dense_keys: Ncontext_dense * string")
      .host_input("feature_list_sparse_keys: Nfeature_list_sparse * string")
      .host_input("feature_list_dense_keys: Nfeature_list_dense * string")
      .input("context_dense_defaults: Tcontext_dense")
      .input("debug_name: string");
  add_list_outputs(add_context_outputs(op)).attr("Ncontext_dense: int >= 0 = 0");
  return add_types(op).shape(single_sequence_example_shape);
}

}  // namespace

void add_parse_sequence_example_ops(OpLibrary& library) {
  library.op(sequence_example());
  library.op(sequence_example_v2());
  library.op(single_sequence_example());
  const auto add = [&](const char* name, auto check) {
    library.kernel(
        measured_cpu_kernel(name, check, measure_sequences, allocate_sequences, compute_sequences));
  };
  add("ParseSequenceExample", check_sequence_example);
  add("ParseSequenceExampleV2", check_sequence_example_v2);
  add("ParseSingleSequenceExample", check_single_sequence_example);
}

}  // namespace troupe

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
// be taken as empty. A sparse list yields indices [example, row, value], values and the dense shape. A ragged one yields the values,
// the splits of examples into rows (for a scalar: the number of rows, which TensorFlow leaves uninitialised) and of rows into
// values. Of a scalar the outputs have no dimension for the batch. Errors are like those of ParseExample.
// Source: tensorflow/core/util/example_proto_fast_parsing.cc, tensorflow/core/kernels/example_parsing_ops.cc.
#include <algorithm>

#include "kernels/ops/parsing/example_parser.h"

namespace troupe {
namespace {

using namespace parsing;  // NOLINT: the room's own helpers
using Types = std::vector<DType>;
using Keys = std::vector<std::string_view>;

/// A list of features that is asked for.
struct List {
  std::string_view key;
  DType dtype;
  Form form;
  size_t values, indices = 0;  ///< outputs; `indices` is that of the splits into rows of a ragged list
  size_t shape =
      0;  ///< the dense shape; of a dense list the numbers of rows, or 0; of a ragged one the splits of rows into values
  Dims dims = {};  ///< of a row of a dense list
  int64_t elements = 1;
  bool may_be_missing = true;
};

/// A list as it was found in an example.
struct FoundList {
  std::string_view rows = {};  ///< the message
  bool present = false;
  int64_t row_count = 0, count = 0, most = 0;  ///< the rows, the values of all, the values of the longest row
  int64_t first_row = 0, first = 0;            ///< where they begin in the outputs
};

struct SequenceArguments {
  ExampleArguments context;
  std::vector<List> lists;
  KeyTable keys;
  std::vector<FoundList> found = {};  ///< by example and list

  const Examples& examples() const { return context.examples; }
  FoundList& at(size_t example, size_t list) { return found[example * lists.size() + list]; }
  const FoundList& at(size_t example, size_t list) const { return found[example * lists.size() + list]; }
};

// ---- Measuring

/// Calls take(values) with the values of each row until it returns a failure.
template <class Take>
Status each_row(std::string_view rows, const Take& take) {
  protobuf::FieldReader reader(rows);
  protobuf::Field row;
  while (reader.next(row)) {
    if (row.number != OnlyField) continue;
    const auto values =
        row.kind == protobuf::FieldKind::Bytes ? read_feature(row.bytes) : std::optional<FeatureValues>();
    if (!values) return invalid_argument("a row is neither a list of bytes, floats nor int64, or damaged");
    TROUPE_RETURN_IF_FAILED(take(*values));
  }
  return reader.damaged() ? invalid_argument("its list of rows is damaged") : Status{};
}

Status measure_row(const FeatureValues& values, const List& list, FoundList& found) {
  std::optional<int64_t> count = 0;
  if (values.dtype != DType::Invalid) {
    if (values.dtype != list.dtype) return invalid_argument(wrong_type(values, list.dtype));
    count = count_values(values);
    if (!count) return invalid_argument("row " + std::to_string(found.row_count) + " is damaged");
  }
  if (list.form == Form::Dense && *count != list.elements)
    return invalid_argument("row " + std::to_string(found.row_count) + " has " + std::to_string(*count) +
                            " values, but its shape is " + text_of(list.dims));
  ++found.row_count;
  found.count += *count;
  found.most = std::max(found.most, *count);
  return {};
}

Status measure_list(const List& list, FoundList& found) {
  if (!found.present && !list.may_be_missing)
    return invalid_argument(
        "it is missing, and feature_list_dense_missing_assumed_empty does not say that it may be");
  return each_row(found.rows, [&](const FeatureValues& values) { return measure_row(values, list, found); });
}

Status measure_lists(SequenceArguments& arguments, size_t example) {
  FoundList* const found = arguments.found.data() + example * arguments.lists.size();
  const bool whole = each_entry(arguments.examples().serialized[example], FeatureListsField,
                                [&](std::string_view key, std::string_view rows) {
                                  const size_t number = arguments.keys.find(key);
                                  if (number >= arguments.lists.size()) return;
                                  found[number].rows = rows;
                                  found[number].present = true;
                                });
  if (!whole) return arguments.examples().error(example, "", "the bytes are no SequenceExample");
  for (size_t i = 0; i < arguments.lists.size(); ++i)
    if (const Status status = measure_list(arguments.lists[i], found[i]); !status.ok())
      return arguments.examples().error(example, arguments.lists[i].key, status.text());
  return {};
}

size_t cost_of(const SequenceArguments& arguments) {
  return arguments.examples().cost(arguments.lists.size());
}

Status measure_sequences(SequenceArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(measure_examples(arguments.context, device));
  const size_t examples = arguments.examples().size();
  arguments.found.resize(examples * arguments.lists.size());
  return for_each_string(device.pool(), examples, cost_of(arguments),
                         [&](size_t example) { return measure_lists(arguments, example); });
}

// ---- Allocating

struct Counts {
  int64_t rows = 0, values = 0, most_rows = 0, most_values = 0;
};

Counts place(SequenceArguments& arguments, size_t number) {
  Counts counts;
  for (size_t example = 0; example < arguments.examples().size(); ++example) {
    FoundList& found = arguments.at(example, number);
    found.first_row = counts.rows;
    found.first = counts.values;
    counts.rows += found.row_count;
    counts.values += found.count;
    counts.most_rows = std::max(counts.most_rows, found.row_count);
    counts.most_values = std::max(counts.most_values, found.most);
  }
  return counts;
}

Status allocate_dense(SequenceArguments& arguments, size_t number, const Counts& counts,
                      KernelContext& context) {
  const List& list = arguments.lists[number];
  const Examples& examples = arguments.examples();
  TROUPE_ASSIGN(const Shape shape, batch_shape(examples, {counts.most_rows}, list.dims, list.dtype));
  TROUPE_RETURN_IF_FAILED(context.output(list.values, shape).status());
  for (size_t example = 0; example < examples.size(); ++example)
    arguments.at(example, number).first = static_cast<int64_t>(example) * counts.most_rows * list.elements;
  if (list.shape == 0) return {};
  TROUPE_ASSIGN(const Shape lengths, batch_shape(examples, {}, {}, DType::Int64));
  TROUPE_ASSIGN(Tensor* const output, context.output(list.shape, lengths));
  for (size_t example = 0; example < examples.size(); ++example)
    output->write<int64_t>()[example] = arguments.at(example, number).row_count;
  return {};
}

Status allocate_sparse(const Examples& examples, const List& list, const Counts& counts,
                       KernelContext& context) {
  const std::array<int64_t, 3> shape{static_cast<int64_t>(examples.size()), counts.most_rows,
                                     counts.most_values};
  const auto dims = std::span(shape).subspan(examples.batched ? 0 : 1);
  TROUPE_RETURN_IF_FAILED(
      context.output(list.indices, Shape{counts.values, static_cast<int64_t>(dims.size())}).status());
  TROUPE_RETURN_IF_FAILED(context.output(list.values, Shape::vector(counts.values)).status());
  return set_longs(context, list.shape, dims);
}

Status allocate_ragged(const Examples& examples, const List& list, const Counts& counts,
                       KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(context.output(list.values, Shape::vector(counts.values)).status());
  const Shape outer = examples.batched ? Shape::vector(static_cast<int64_t>(examples.size()) + 1) : Shape{};
  TROUPE_ASSIGN(Tensor* const outer_splits, context.output(list.indices, outer));
  TROUPE_ASSIGN(Tensor* const inner_splits, context.output(list.shape, Shape::vector(counts.rows + 1)));
  set_split(*outer_splits, 0, 0);
  set_split(*inner_splits, 0, 0);
  return check_splits(*inner_splits, list.key, std::max(counts.values, counts.rows));
}

Status allocate_sequences(SequenceArguments& arguments, KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(allocate_examples(arguments.context, context));
  for (size_t i = 0; i < arguments.lists.size(); ++i) {
    const List& list = arguments.lists[i];
    const Counts counts = place(arguments, i);
    if (list.form == Form::Dense) TROUPE_RETURN_IF_FAILED(allocate_dense(arguments, i, counts, context));
    if (list.form == Form::Sparse)
      TROUPE_RETURN_IF_FAILED(allocate_sparse(arguments.examples(), list, counts, context));
    if (list.form == Form::Ragged)
      TROUPE_RETURN_IF_FAILED(allocate_ragged(arguments.examples(), list, counts, context));
  }
  return {};
}

// ---- Computing

/// Writes the rows of a list, and what says where their values stand.
class RowWriter {
 public:
  RowWriter(const SequenceArguments& arguments, size_t example, size_t number)
      : list_(arguments.lists[number]), found_(arguments.at(example, number)), example_(example),
        batched_(arguments.examples().batched), outputs_(arguments.context.outputs), at_(found_.first) {}

  Status write() {
    TROUPE_RETURN_IF_FAILED(
        each_row(found_.rows, [&](const FeatureValues& values) { return write_row(values); }));
    if (list_.form == Form::Ragged)
      set_split(outputs_[list_.indices], batched_ ? example_ + 1 : 0, found_.first_row + found_.row_count);
    return {};
  }
  /// Fills up a dense list to `end`.
  void clear_until(int64_t end) { clear_elements(outputs_[list_.values], at_, end - at_); }

 private:
  Status write_row(const FeatureValues& values) {
    const int64_t count = values.dtype == DType::Invalid ? 0 : count_values(values).value_or(0);
    if (count != 0 && !write_values(values, outputs_[list_.values], at_, count))
      return invalid_argument("row " + std::to_string(row_) + " is damaged");
    if (list_.form == Form::Sparse) write_indices(count);
    at_ += count;
    ++row_;
    if (list_.form == Form::Ragged)
      set_split(outputs_[list_.shape], static_cast<size_t>(found_.first_row + row_), at_);
    return {};
  }
  void write_indices(int64_t count) {
    int64_t* to = outputs_[list_.indices].write<int64_t>().data() + at_ * (batched_ ? 3 : 2);
    for (int64_t i = 0; i < count; ++i) {
      if (batched_) *to++ = static_cast<int64_t>(example_);
      *to++ = row_;
      *to++ = i;
    }
  }

  const List& list_;
  const FoundList& found_;
  const size_t example_;
  const bool batched_;
  const std::span<Tensor> outputs_;
  int64_t at_, row_ = 0;
};

Status write_lists(const SequenceArguments& arguments, size_t example) {
  const auto examples = static_cast<int64_t>(arguments.examples().size());
  for (size_t i = 0; i < arguments.lists.size(); ++i) {
    const List& list = arguments.lists[i];
    RowWriter writer(arguments, example, i);
    if (const Status status = writer.write(); !status.ok())
      return arguments.examples().error(example, list.key, status.text());
    if (list.form == Form::Dense)
      writer.clear_until((static_cast<int64_t>(example) + 1) *
                         (arguments.context.outputs[list.values].elements() / examples));
  }
  return {};
}

Status compute_sequences(const SequenceArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(compute_examples(arguments.context, device));
  return for_each_string(device.pool(), arguments.examples().size(), cost_of(arguments),
                         [&](size_t example) { return write_lists(arguments, example); });
}

// ---- Checks

/// What one of the ops asks for.
struct Wanted {
  Keys context_sparse, context_dense, context_ragged = {};
  Keys list_sparse, list_dense, list_ragged = {};
  std::vector<bool> list_may_be_missing = {};  ///< for each dense list
  size_t defaults = 0;                         ///< the first input that is a default
  bool has_lengths = true;                     ///< whether the numbers of rows are outputs
};

const Types& types(const Node& node, std::string_view attr) { return node.attrs.get<Types>(attr); }

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

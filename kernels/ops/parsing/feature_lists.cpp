#include "kernels/ops/parsing/feature_lists.h"

#include <algorithm>

namespace troupe::parsing {
namespace {

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

// ---- Allocating

struct ListCounts {
  int64_t rows = 0, values = 0, most_rows = 0, most_values = 0;
};

ListCounts place_list(SequenceArguments& arguments, size_t number) {
  ListCounts counts;
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

Status allocate_dense(SequenceArguments& arguments, size_t number, const ListCounts& counts,
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

Status allocate_sparse_list(const Examples& examples, const List& list, const ListCounts& counts,
                            KernelContext& context) {
  const std::array<int64_t, 3> shape{static_cast<int64_t>(examples.size()), counts.most_rows,
                                     counts.most_values};
  const auto dims = std::span(shape).subspan(examples.batched ? 0 : 1);
  TROUPE_RETURN_IF_FAILED(
      context.output(list.indices, Shape{counts.values, static_cast<int64_t>(dims.size())}).status());
  TROUPE_RETURN_IF_FAILED(context.output(list.values, Shape::vector(counts.values)).status());
  return set_longs(context, list.shape, dims);
}

Status allocate_ragged_list(const Examples& examples, const List& list, const ListCounts& counts,
                            KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(context.output(list.values, Shape::vector(counts.values)).status());
  const Shape outer = examples.batched ? Shape::vector(static_cast<int64_t>(examples.size()) + 1) : Shape{};
  TROUPE_ASSIGN(Tensor* const outer_splits, context.output(list.indices, outer));
  TROUPE_ASSIGN(Tensor* const inner_splits, context.output(list.shape, Shape::vector(counts.rows + 1)));
  set_split(*outer_splits, 0, 0);
  set_split(*inner_splits, 0, 0);
  return check_splits(*inner_splits, list.key, std::max(counts.values, counts.rows));
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

}  // namespace

Status measure_sequences(SequenceArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(measure_examples(arguments.context, device));
  const size_t examples = arguments.examples().size();
  arguments.found.resize(examples * arguments.lists.size());
  return for_each_string(device.pool(), examples, cost_of(arguments),
                         [&](size_t example) { return measure_lists(arguments, example); });
}

Status allocate_sequences(SequenceArguments& arguments, KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(allocate_examples(arguments.context, context));
  for (size_t i = 0; i < arguments.lists.size(); ++i) {
    const List& list = arguments.lists[i];
    const ListCounts counts = place_list(arguments, i);
    if (list.form == Form::Dense) TROUPE_RETURN_IF_FAILED(allocate_dense(arguments, i, counts, context));
    if (list.form == Form::Sparse)
      TROUPE_RETURN_IF_FAILED(allocate_sparse_list(arguments.examples(), list, counts, context));
    if (list.form == Form::Ragged)
      TROUPE_RETURN_IF_FAILED(allocate_ragged_list(arguments.examples(), list, counts, context));
  }
  return {};
}

Status compute_sequences(const SequenceArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(compute_examples(arguments.context, device));
  return for_each_string(device.pool(), arguments.examples().size(), cost_of(arguments),
                         [&](size_t example) { return write_lists(arguments, example); });
}

}  // namespace troupe::parsing

#include "apps/config/parsed_rows.h"

#include <algorithm>

#include "kernels/constructors.h"

namespace troupe::config {
namespace {

using data::RaggedColumn;
using data::Standardize;

/// The elements of rows, one row behind the other, as the values of a sparse matrix.
struct Elements {
  Output values;
  Output rows, places;  ///< int64 [elements]: for each element its row, and its place in it
};

Output strings(const Scope& scope, std::vector<std::string> values) {
  return scope.constant(Tensor::vector<std::string>(values));
}

Output standardized(const Scope& scope, Standardize how, Output texts) {
  if (how == Standardize::None) return texts;
  const Output lower = scope.add_one("StringLower", {texts}, {{"encoding", std::string("utf-8")}});
  if (how == Standardize::Lower) return lower;
  return scope.add_one("StaticRegexReplace", {lower},
                       {{"pattern", std::string("[!-/:-@\\[-`{-~]")}, {"rewrite", std::string()}});
}

/// Takes the outputs of a node that makes a sparse matrix.
Elements elements_of(const Scope& scope, Output indices, Output values) {
  const auto of_indices = unstack(scope, indices, 2, 1);
  return {values, of_indices[0], of_indices[1]};
}

Elements parts_of(const Scope& scope, Output texts, const std::string& separators) {
  const Output between = scope.constant(Tensor::scalar<std::string>(separators));
  const auto sparse = scope.outputs(scope.add_one("StringSplit", {texts, between}));
  return elements_of(scope, sparse[0], sparse[1]);
}

Elements feature_of(const Scope& scope, const RaggedColumn& column, Output records) {
  const DType numbers = is_floating(column.dtype) ? DType::Float : DType::Int64;
  const DType dtype = column.has_words() ? DType::String : numbers;
  const Output key = scope.constant(Tensor::scalar<std::string>(column.feature));
  const auto sparse = scope.outputs(scope.add_one("ParseExample", {records, strings(scope, {}), key},
                                                  {{"Nsparse", int64_t{1}},
                                                   {"Ndense", int64_t{0}},
                                                   {"sparse_types", std::vector<DType>{dtype}},
                                                   {"Tdense", std::vector<DType>{}},
                                                   {"dense_shapes", std::vector<PartialShape>{}}}));
  return elements_of(scope, sparse[0], sparse[1]);
}

/// Returns the ids of words. `fills` receives what fills the table of the words.
Output ids_of(const Scope& scope, const RaggedColumn& column, Output words, std::vector<Output>& fills) {
  const auto known = static_cast<int64_t>(column.words.size());
  const Output table = scope.with_name("table").add_one("HashTableV2", {},
                                                        {{"key_dtype", DType::String},
                                                         {"value_dtype", DType::Int64},
                                                         {"shared_name", scope.prefix() + "table"}});
  const Output all = scope.constant(Tensor::scalar(known));
  const Output ids = range(scope, scope.constant(Tensor::scalar<int64_t>(0)), all, int64_t{1});
  fills.push_back(
      {scope.with_name("fill").add("InitializeTableV2", {table, strings(scope, column.words), ids}),
       Output::control});
  return scope.add_one("LookupTableFindV2", {table, words, all});
}

/// Leaves out the elements of each row behind the first `length` ones.
Elements cut(const Scope& scope, const Elements& elements, int64_t length) {
  const Output kept = squeeze(scope, scope.add_one("Where", {less(scope, elements.places, length)}), {1});
  return {gather(scope, elements.values, kept), gather(scope, elements.rows, kept),
          gather(scope, elements.places, kept)};
}

/// Returns the elements of a ragged column, of any type.
Elements ragged_elements(const Scope& scope, const RaggedColumn& column, Output source,
                         std::vector<Output>& fills) {
  const bool has_words = column.has_words(), is_text = column.feature.empty();
  const std::string between(has_words ? data::between_words : data::between_numbers);
  Elements elements = is_text ? parts_of(scope, standardized(scope, column.standardize, source), between)
                              : feature_of(scope, column, source);
  if (column.max_length > 0) elements = cut(scope, elements, column.max_length);
  if (has_words)
    elements.values = ids_of(scope, column, elements.values, fills);
  else if (is_text)
    elements.values = scope.add_one("StringToNumber", {elements.values}, {{"out_type", column.dtype}});
  return elements;
}

/// Returns a tensor that may be fed in place of `values`.
std::pair<std::string, Output> may_be_fed(const Scope& scope, const std::string& name, Output values,
                                          const PartialShape& shape) {
  return {name, placeholder_with_default(scope.with_name(name), values, shape)};
}

/// Returns the two columns that a ragged column is.
Columns rows_of(const Scope& root, const RaggedColumn& column, Output source, std::vector<Output>& fills) {
  const Scope scope = root.with_prefix("rows").with_prefix(column.name);
  const Elements elements = ragged_elements(scope, column, source, fills);
  const bool is_made = root.dtype(elements.values) == column.dtype;
  const Output values = is_made ? elements.values : cast(scope, elements.values, column.dtype);
  const PartialShape vector{unknown_dim};
  const Output samples = scope.add_one("Size", {source}, {{"out_type", DType::Int64}});
  const Output ones = scope.add_one("OnesLike", {elements.rows});
  const Output lengths = unsorted_segment_sum(scope, ones, elements.rows, samples);  // int64 [samples]
  if (!column.pad) {
    const Output zero = scope.constant(Tensor::vector<int64_t>({0}));
    return {may_be_fed(root, column.name, values, vector),
            may_be_fed(root, column.companion(), concat(scope, {zero, cumsum(scope, lengths)}, 0), vector)};
  }
  const Output longest = maximum(scope, max(scope, lengths, 0), int64_t{0});  // there may be no sample
  const Output pad = cast(scope, scope.constant(Tensor::scalar(*column.pad)), column.dtype);
  const Output padded = sparse_to_dense(scope, stack(scope, {elements.rows, elements.places}, 1),
                                        stack(scope, {samples, longest}), values, pad);
  return {may_be_fed(root, column.name, padded, PartialShape{unknown_dim, unknown_dim}),
          may_be_fed(root, column.companion(), cast(scope, lengths, i32), vector)};
}

}  // namespace

ParsedRows parse_rows(const std::vector<RaggedColumn>& ragged, const Scope& scope, const Columns& columns) {
  ParsedRows rows;
  for (const auto& [name, value] : columns)
    if (scope.dtype(value) != DType::String ||
        std::ranges::find(ragged, name, &RaggedColumn::from) == ragged.end())
      rows.columns.emplace_back(name, value);
  for (const RaggedColumn& column : ragged) {
    const auto source = std::ranges::find(columns, column.from, &Columns::value_type::first);
    if (source == columns.end() || scope.dtype(source->second) != DType::String)
      throw Error(invalid_argument("data.ragged." + column.name + ": there is no column of texts '" +
                                   column.from + "'"));
    for (auto& made : rows_of(scope, column, source->second, rows.fills))
      rows.parsed.push_back(std::move(made));
  }
  rows.columns.insert(rows.columns.end(), rows.parsed.begin(), rows.parsed.end());
  return rows;
}

}  // namespace troupe::config

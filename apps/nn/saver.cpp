#include "apps/nn/saver.h"

#include <algorithm>
#include <map>

#include "apps/nn/partitioned_variable.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Returns "10 4 2,3:-", TensorFlow's text for rows 2 to 4 of a tensor of shape [10, 4].
std::string slice_text(const RowSlice& slice, const PartialShape& part) {
  std::string text = std::to_string(slice.rows);
  for (const int64_t dim : part.dims().subspan(1)) text += ' ' + std::to_string(dim);
  text += ' ' + std::to_string(slice.first) + ',' + std::to_string(slice.count);
  for (size_t i = 1; i < part.rank(); ++i) text += ":-";
  return text;
}

Output texts(const Scope& scope, const std::vector<std::string>& values) {
  return scope.constant(Tensor::vector<std::string>(values));
}

std::vector<Output> or_all(const Scope& scope, const std::vector<Output>& given) {
  return given.empty() ? variables(scope.graph()) : given;
}

// Variables of TensorFlow's graphs may be resources.
bool is_resource(const Scope& scope, Output variable) { return scope.dtype(variable) == DType::Resource; }

DType value_type(const Scope& scope, Output variable) {
  return is_resource(scope, variable) ? scope.graph().node(variable.node).attrs.get<DType>("dtype")
                                      : scope.dtype(variable);
}
Output value_of(const Scope& scope, Output variable) {
  return is_resource(scope, variable)
             ? scope.add_one("ReadVariableOp", {variable}, {{"dtype", value_type(scope, variable)}})
             : variable;
}

/// What is written under names.
struct Entries {
  std::vector<std::string> names, slices;
  std::vector<Output> values;

  void add(std::string name, std::string slice, Output value) {
    names.push_back(std::move(name));
    slices.push_back(std::move(slice));
    values.push_back(value);
  }
};

using Parts = std::map<int64_t, std::pair<RowSlice, Output>>;  ///< by their first rows

/// Adds the parts of a variable that are not made of rows that follow each other: together they are all of its rows.
void add_joined(const Scope& scope, const std::string& name, const Parts& parts, Entries& entries) {
  std::vector<Output> rows, values;
  int64_t count = 0;
  for (const auto& [first, part] : parts) {
    const RowSlice& slice = part.first;
    rows.push_back(range(scope, slice.first, slice.row(slice.count - 1) + 1, slice.stride));
    values.push_back(part.second);
    count += slice.count;
  }
  if (count != parts.begin()->second.first.rows)
    throw Error(invalid_argument("only " + std::to_string(count) + " of the " +
                                 std::to_string(parts.begin()->second.first.rows) + " rows of variable '" +
                                 name + "' are to be saved"));
  entries.add(name, {}, values.size() == 1 ? values[0] : dynamic_stitch(scope, rows, values));
}

}  // namespace

Output save_variables(const Scope& scope, Output prefix, const std::vector<Output>& variables) {
  const Scope inner = scope.with_prefix("save");
  const Graph& graph = inner.graph();
  Entries entries;
  std::map<std::string, Parts> strided;
  for (const Output& variable : or_all(inner, variables)) {
    const Output value = value_of(inner, variable);
    const Node& node = graph.node(inner.checked(variable).node);
    const auto slice = row_slice_of(node);
    if (slice && slice->stride != 1)
      strided[slice->of].emplace(slice->first, std::pair(*slice, value));
    else
      entries.add(slice ? slice->of : node.name,
                  slice ? slice_text(*slice, inner.shape(variable)) : std::string(), value);
  }
  for (const auto& [name, parts] : strided) add_joined(inner, name, parts, entries);
  std::vector<Output> inputs = {prefix, texts(inner, entries.names), texts(inner, entries.slices)};
  inputs.insert(inputs.end(), entries.values.begin(), entries.values.end());
  return graph.output(inner.add("SaveV2", std::move(inputs)), Output::control);
}

Output restore_variables(const Scope& scope, Output prefix, const std::vector<Output>& variables) {
  const Scope inner = scope.with_prefix("restore");
  std::vector<Output> assigned;
  for (const Output& variable : or_all(inner, variables)) {
    const Node node = inner.graph().node(inner.checked(variable).node);  // a copy, because the graph grows
    const Scope here = beside(inner, variable).with_prefix(node.name);
    const auto slice = row_slice_of(node);
    const bool is_contiguous = slice && slice->stride == 1;
    const Output read = here.add_one(
        "RestoreV2",
        {prefix, texts(here, {slice ? slice->of : node.name}),
         texts(here, {is_contiguous ? slice_text(*slice, inner.shape(variable)) : std::string()})},
        {{"dtypes", std::vector<DType>{value_type(inner, variable)}}});
    const Output value =
        slice && !is_contiguous
            ? gather(here, read, range(here, slice->first, slice->row(slice->count - 1) + 1, slice->stride))
            : read;
    assigned.push_back(
        {here.add(is_resource(inner, variable) ? "AssignVariableOp" : "Assign", {variable, value}),
         Output::control});
  }
  return inner.group(assigned);
}

}  // namespace troupe::nn

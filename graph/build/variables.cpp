#include "graph/build/variables.h"

#include "graph/build/noted_attrs.h"

namespace troupe {
namespace {

enum class Kind : uint8_t { Global, Local };

bool is_variable(const Node& node) {
  return node.attrs.find(trainable_attr) != nullptr && !node.output_types.empty();
}

bool is_local(const Node& node) { return node.attrs.find(local_attr) != nullptr; }

Output add_variable(const Scope& scope, Output initial, std::string_view name, bool trainable, Kind kind,
                    const std::optional<RowSlice>& slice = {}) {
  const PartialShape& shape = scope.shape(initial);
  if (!shape.fully_known())
    throw Error(invalid_argument("the initial value of variable '" + std::string(name) + "' has shape " +
                                 shape.text() + ", which is not fully known"));
  Attributes attrs{
      {"dtype", scope.dtype(initial)}, {"shape", shape}, {std::string(trainable_attr), trainable}};
  if (kind == Kind::Local) attrs.set(std::string(local_attr), true);
  if (slice) set_row_slice(attrs, *slice);
  const Output variable = scope.with_name(name).add_one("VariableV2", {}, std::move(attrs));
  scope.with_name(std::string(name) + "/Assign")
      .colocated_with(variable)
      .add("Assign", {variable, initial}, {{std::string(initializer_attr), true}});
  return variable;
}

std::vector<Output> variables_of(const Graph& graph, Kind kind) {
  std::vector<Output> result;
  for (const Node& node : graph.nodes())
    if (is_variable(node) && is_local(node) == (kind == Kind::Local))
      result.push_back(graph.output(node.id, 0));
  return result;
}

Output initializer_of(const Scope& scope, Kind kind, std::string_view name) {
  const Graph& graph = scope.graph();
  std::vector<Output> targets;
  for (const Initializer& initializer : initializers(graph))
    if (is_local(graph.node(initializer.variable.node)) == (kind == Kind::Local))
      targets.push_back({initializer.node, Output::control});
  return scope.with_name(name).group(targets);
}

/// Whether the node outputs a variable, of the builder or of an imported graph.
bool holds_variable(const Node& node) {
  return node.type() == "VariableV2" || node.type() == "Variable" || node.type() == "VarHandleOp";
}

}  // namespace

Output variable(const Scope& scope, Output initial, std::string_view name, bool trainable) {
  return add_variable(scope, initial, name, trainable, Kind::Global);
}

Output variable_part(const Scope& scope, Output initial, std::string_view name, const RowSlice& slice,
                     bool trainable) {
  const PartialShape& shape = scope.shape(initial);
  if (!slice.is_valid() || (shape.fully_known() && (shape.rank() == 0 || shape[0] != slice.count)))
    throw Error(invalid_argument(
        "variable '" + std::string(name) + "' has shape " + shape.text() + "; it cannot be " +
        std::to_string(slice.count) + " of the " + std::to_string(slice.rows) + " rows of '" + slice.of +
        "', from row " + std::to_string(slice.first) + " on in steps of " + std::to_string(slice.stride)));
  return add_variable(scope, initial, name, trainable, Kind::Global, slice);
}

std::optional<RowSlice> companion_slice(const Scope& scope, std::string_view name, Output of) {
  const Node& other = scope.graph().node(scope.checked(of).node);
  auto slice = row_slice_of(other);
  if (!slice) return {};
  std::string whole = scope.prefix() + std::string(name);
  const size_t at = whole.find(other.name);
  if (at == std::string::npos)
    throw Error(invalid_argument("the name of variable '" + whole + "' does not contain that of '" +
                                 other.name + "', to which it belongs"));
  slice->of = whole.replace(at, other.name.size(), slice->of);
  return slice;
}

Output companion_variable(const Scope& scope, Output initial, std::string_view name, Output of) {
  return add_variable(scope, initial, name, false, Kind::Global, companion_slice(scope, name, of));
}

Output local_variable(const Scope& scope, Output initial, std::string_view name) {
  return add_variable(scope, initial, name, false, Kind::Local);
}

std::vector<Output> variables(const Graph& graph) { return variables_of(graph, Kind::Global); }

std::vector<Output> local_variables(const Graph& graph) { return variables_of(graph, Kind::Local); }

std::vector<Output> trainable_variables(const Graph& graph) {
  std::vector<Output> result;
  for (const Node& node : graph.nodes())
    if (is_variable(node) && node.attrs.get<bool>(trainable_attr)) result.push_back(graph.output(node.id, 0));
  return result;
}

std::vector<Initializer> initializers(const Graph& graph) {
  std::vector<Initializer> result;
  for (const Node& node : graph.nodes())
    if (node.attrs.find(initializer_attr) && node.inputs.size() == 2)
      result.push_back({node.id, node.inputs[0], node.inputs[1]});
  return result;
}

Output initial_value(const Graph& graph, Output variable) {
  if (const Status status = graph.check_tensor(variable); !status.ok())
    throw Error(invalid_argument("the variable " + status.text()));
  for (const Initializer& initializer : initializers(graph))
    if (initializer.variable == variable) return initializer.value;
  throw Error(invalid_argument("the node '" + graph.node(variable.node).name + "' has no initial value"));
}

Output initializer(const Scope& scope) { return initializer_of(scope, Kind::Global, "init"); }

Output initializer(const Scope& scope, const std::vector<Output>& variables) {
  const std::vector<Initializer> all = initializers(scope.graph());
  std::vector<Output> targets;
  for (const Output& variable : variables) {
    const Output checked = scope.checked(variable);
    const auto found = std::ranges::find(all, checked, &Initializer::variable);
    if (found == all.end())
      throw Error(
          invalid_argument("the node '" + scope.graph().node(checked.node).name + "' has no initial value"));
    targets.push_back({found->node, Output::control});
  }
  return scope.with_name("init").group(targets);
}

Output local_initializer(const Scope& scope) { return initializer_of(scope, Kind::Local, "local_init"); }

Output tables_initializer(const Scope& scope) {
  std::vector<Output> fills;
  for (const Node& node : scope.graph().nodes())
    if (node.type().starts_with("InitializeTable")) fills.push_back({node.id, Output::control});
  return scope.with_name("init_all_tables").group(fills);
}

Output full_initializer(const Scope& scope) {
  return scope.group({initializer(scope), local_initializer(scope), tables_initializer(scope)});
}

Output report_uninitialized_variables(const Scope& scope, const std::vector<Output>& variables) {
  const Scope g = scope.with_prefix("report_uninitialized_variables");
  if (variables.empty()) return g.constant(value_or_throw(Tensor::allocate(DType::String, Shape{0})));
  std::vector<std::string> names;
  std::vector<Output> known;
  for (const Output& variable : variables) {
    const Node& node = scope.graph().node(scope.checked(variable).node);
    names.push_back(node.name);
    const bool resource = node.type() == "VarHandleOp";
    known.push_back(g.colocated_with(variable).add_one(
        resource ? "VarIsInitializedOp" : "IsVariableInitialized", {{node.id, 0}}));
  }
  const Output lacking = g.add_one("LogicalNot", {g.add_one("Pack", known)});
  const Output positions =
      g.add_one("Squeeze", {g.add_one("Where", {lacking})}, {{"squeeze_dims", std::vector<int64_t>{1}}});
  return g.add_one("Gather", {g.constant(Tensor::vector<std::string>(names)), positions});
}

Output report_uninitialized_variables(const Scope& scope) {
  std::vector<Output> all;
  for (const Node& node : scope.graph().nodes())
    if (holds_variable(node)) all.push_back(scope.graph().output(node.id, 0));
  return report_uninitialized_variables(scope, all);
}

}  // namespace troupe

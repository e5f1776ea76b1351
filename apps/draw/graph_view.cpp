#include "apps/draw/graph_view.h"

#include <algorithm>
#include <map>
#include <set>

#include "apps/draw/hidden_nodes.h"
#include "kernels/core/state.h"

namespace troupe::draw {
namespace {

/// Returns whether the node yields its first input as it is.
bool passes_value_on(const Node& node) {
  return node.inputs.size() == 1 && (node.type() == "Identity" || node.type() == "RefIdentity" ||
                                     node.type() == "ReadVariableOp" || node.type() == "StopGradient");
}

std::string joined(const Path& path, size_t from, const std::string& last) {
  std::string text;
  for (size_t i = from; i < path.size(); ++i) text += path[i] + '/';
  return text + last;
}

GraphView::Kind kind_of(const Node& node, bool is_result) {
  if (is_variable(node)) return GraphView::Kind::Variable;
  if (node.type().starts_with("Placeholder") || node.type() == "_Arg") return GraphView::Kind::Input;
  if (is_result) return GraphView::Kind::Result;
  return is_gradient(node) ? GraphView::Kind::Gradient : GraphView::Kind::Op;
}

}  // namespace

Path path_of(std::string_view name) {
  Path path;
  while (!name.empty()) {
    const size_t slash = std::min(name.find('/'), name.size());
    if (slash > 0) path.emplace_back(name.substr(0, slash));
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return path;
}

bool is_within(const Path& path, const Path& scope) {
  return path.size() >= scope.size() && std::equal(scope.begin(), scope.end(), path.begin());
}

GraphView::GraphView(const Graph& graph, const ViewOptions& options)
    : graph_(graph), hidden_(hidden_nodes(graph, options)), passes_on_(graph.size()) {
  take_nodes(options);
  place_in_scopes();
  move_variables_to_users();
  leave_small_scopes();
}

void GraphView::take_nodes(const ViewOptions& options) {
  std::set<NodeId> results;
  for (const Output& result : options.results) results.insert(result.node);
  for (const Node& node : graph_.nodes())
    passes_on_[node.id] = passes_value_on(node) && !results.contains(node.id);
  for (const Node& node : graph_.nodes()) {
    if (hidden_[node.id] || passes_on_[node.id]) continue;
    Seen seen{node.id, kind_of(node, results.contains(node.id)), {}, node.name, {}};
    for (const Output& input : node.inputs) {
      const Output source = source_of(input);
      if (!hidden_[source.node]) seen.inputs.push_back(source);
    }
    nodes_.push_back(std::move(seen));
  }
}

Output GraphView::source_of(Output output) const {
  // A loop cannot consist of such nodes alone, but a damaged graph might.
  for (size_t steps = 0; passes_on_[output.node] && steps < graph_.size(); ++steps)
    output = graph_.node(output.node).inputs[0];
  return output;
}

void GraphView::place_in_scopes() {
  std::set<std::string, std::less<>> scopes;
  for (const Seen& seen : nodes_) {
    const std::string& name = graph_.node(seen.node).name;
    for (size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      scopes.insert(name.substr(0, slash));
  }
  for (Seen& seen : nodes_) {
    const std::string& name = graph_.node(seen.node).name;
    Path path = path_of(name);
    if (path.empty()) continue;
    seen.label = path.back();
    // A definition of a run file is the last node of its own scope.
    if (!scopes.contains(name)) path.pop_back();
    seen.scope = std::move(path);
  }
}

void GraphView::move_variables_to_users() {
  std::map<NodeId, Path> common;  // by variable: the scope in which all its users are
  std::map<NodeId, const Seen*> variables;
  for (const Seen& seen : nodes_)
    if (seen.kind == Kind::Variable) variables[seen.node] = &seen;
  for (const Seen& user : nodes_)
    for (const Output& input : user.inputs) {
      if (!variables.contains(input.node) || user.kind == Kind::Gradient) continue;
      const auto [at, is_first] = common.try_emplace(input.node, user.scope);
      const auto end = std::ranges::mismatch(at->second, user.scope).in1;
      at->second.erase(end, at->second.end());
    }
  for (Seen& seen : nodes_) {
    const auto found = common.find(seen.node);
    if (found == common.end() || found->second.empty() || is_within(seen.scope, found->second)) continue;
    seen.label = joined(seen.scope, 0, seen.label);
    // The name of a variable may be a scope of its own, such as that of its initialiser.
    if (!seen.scope.empty() && seen.scope.back() == path_of(graph_.node(seen.node).name).back())
      seen.label = graph_.node(seen.node).name;
    seen.scope = found->second;
  }
}

void GraphView::leave_small_scopes() {
  std::map<Path, size_t> sizes;
  for (const Seen& seen : nodes_)
    for (size_t parts = 1; parts <= seen.scope.size(); ++parts)
      ++sizes[Path(seen.scope.begin(), seen.scope.begin() + static_cast<std::ptrdiff_t>(parts))];
  for (Seen& seen : nodes_)
    while (!seen.scope.empty() && sizes[seen.scope] == 1) {
      if (seen.label != seen.scope.back()) seen.label = seen.scope.back() + '/' + seen.label;
      seen.scope.pop_back();
    }
}

}  // namespace troupe::draw

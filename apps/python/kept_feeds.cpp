#include "apps/python/kept_feeds.h"

#include <algorithm>
#include <array>
#include <set>

namespace troupe::python {
namespace {

/// The names or beginnings of names of ops with state that only read it, or that compute new values from old ones.
constexpr std::array computing{
    "Apply",          "ResourceApply",   "SparseApply",       "ResourceSparseApply",   "AssignAdd",
    "AssignSub",      "CountUpTo",       "ResourceCountUpTo", "IsVariableInitialized", "ReadVariableOp",
    "ResourceGather", "ResourceScatter", "Scatter",           "VarHandleOp",           "VarIsInitializedOp",
    "Variable"};

bool may_store(const OpDef& op) {
  if (op.effect != Effect::State && op.effect != Effect::Io) return false;
  return std::ranges::none_of(computing, [&](std::string_view known) { return op.name.starts_with(known); });
}

}  // namespace

bool may_keep_feeds(const Graph& graph, const std::vector<Output>& feeds,
                    const std::vector<Output>& fetches) {
  if (feeds.empty()) return false;
  const std::set<Output> fed(feeds.begin(), feeds.end());
  std::vector<bool> seen(graph.size());
  std::vector<NodeId> to_visit;
  const auto need = [&](NodeId id) {
    if (!seen[id]) to_visit.push_back(id);
    seen[id] = true;
  };
  for (const Output& fetch : fetches)
    if (!fed.contains(fetch)) need(fetch.node);
  while (!to_visit.empty()) {
    const Node& node = graph.node(to_visit.back());
    to_visit.pop_back();
    if (may_store(*node.op)) return true;
    for (const Output& input : node.inputs)
      if (!fed.contains(input)) need(input.node);
    for (const NodeId control : node.control_inputs) need(control);
  }
  return false;
}

}  // namespace troupe::python

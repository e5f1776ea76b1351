#include "apps/draw/hidden_nodes.h"

#include <algorithm>
#include <array>

#include "graph/build/needed_part.h"
#include "kernels/core/state.h"

namespace troupe::draw {
namespace {

/// Returns whether the op gives a variable its first value, or concerns files of variables.
bool is_upkeep(const std::string& op) {
  constexpr std::array ops = {"Assign", "AssignVariableOp", "IsVariableInitialized", "VarIsInitializedOp",
                              "NoOp",   "ShardedFilename",  "ShardedFilespec",       "MergeV2Checkpoints",
                              "Assert"};
  return std::ranges::find(ops, op) != ops.end() || op.starts_with("Save") || op.starts_with("Restore");
}

/// Returns whether the op changes variables.
bool is_update(const Node& node) {
  const std::string& op = node.type();
  return op.starts_with("Apply") || op.starts_with("SparseApply") || op.starts_with("ResourceApply") ||
         op.starts_with("ResourceSparseApply") || op.starts_with("Scatter") ||
         op.starts_with("ResourceScatter") || op.starts_with("AssignAdd") || op.starts_with("AssignSub");
}

class Hiding {
 public:
  Hiding(const Graph& graph, const ViewOptions& options)
      : graph_(graph), options_(options), hidden_(graph.size()), kept_(graph.size()) {
    for (const Output& result : options.results) kept_[result.node] = true;
  }

  std::vector<bool> run() && {
    if (!options_.results.empty()) {
      const std::vector<bool> needed = nodes_needed(graph_, options_.results);
      for (size_t i = 0; i < needed.size(); ++i) hidden_[i] = !needed[i];
    }
    hide_constants();
    std::vector<bool> ends = hidden_;  // nodes that use others without being a reason to show these
    for (const Node& node : graph_.nodes()) {
      if (kept_[node.id]) continue;
      const bool is_end = is_upkeep(node.type()) || (!options_.gradients && is_update(node));
      if (is_end) ends[node.id] = true;
      if (is_end || (!options_.gradients && is_gradient(node))) hidden_[node.id] = true;
    }
    hide_dead_ends(ends);
    return std::move(hidden_);
  }

 private:
  void hide_constants() {
    const auto order = topological_order(graph_);
    if (!order) return;
    std::vector<bool> constant(graph_.size());
    for (const NodeId id : *order) {
      const Node& node = graph_.node(id);
      const bool follows =
          !node.inputs.empty() && node.op->effect == Effect::Pure &&
          std::ranges::all_of(node.inputs, [&](const Output& input) { return constant[input.node]; });
      constant[id] = node.type() == "Const" || follows;
      if (constant[id] && !kept_[id]) hidden_[id] = true;
    }
  }

  /// Hides the nodes that only such nodes use. A gradient is none of them: it uses what computes the results, too.
  void hide_dead_ends(std::vector<bool>& ends) {
    std::vector<std::vector<NodeId>> users(graph_.size());
    for (const Node& node : graph_.nodes())
      for (const Output& input : node.inputs) users[input.node].push_back(node.id);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = graph_.size(); i-- > 0;) {
        if (ends[i] || kept_[i] || users[i].empty() || is_gradient(graph_.node(static_cast<NodeId>(i))) ||
            !std::ranges::all_of(users[i], [&](NodeId user) { return ends[user]; }))
          continue;
        ends[i] = hidden_[i] = changed = true;
      }
    }
  }

  const Graph& graph_;
  const ViewOptions& options_;
  std::vector<bool> hidden_, kept_;
};

}  // namespace

bool is_gradient(const Node& node) {
  for (const std::string& part : path_of(node.name))
    if (part == "gradients" || part.starts_with("gradients_") || part == "gradient_tape") return true;
  return false;
}

std::vector<bool> hidden_nodes(const Graph& graph, const ViewOptions& options) {
  return Hiding(graph, options).run();
}

}  // namespace troupe::draw

// FlowGraph: small graphs of control flow for tests of plan and step state, which know no kernels. Edges
// carry integers. Ops: Op (any number of inputs; a hash of them), Increment, Below (less than attribute
// `limit`: 0 or 1), the ops of control flow as features.md F1-F9 describe them, with integers for predicates
// (odd is true), and _Send.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/build/graph.h"
#include "graph/plan/plan.h"

namespace troupe::testing {

std::shared_ptr<const OpTable> flow_ops();

/// What a node makes of its live inputs; flow ops other than Op, Increment and Below pass input 0 on.
int64_t compute(const Node& node, std::span<const int64_t> inputs);

class FlowGraph {
 public:
  FlowGraph() : graph_(flow_ops()) {}

  Graph& graph() { return graph_; }
  Output add(const std::string& op, std::vector<Output> inputs, std::vector<NodeId> control = {},
             Attributes attrs = {});
  Output op(std::vector<Output> inputs, std::vector<NodeId> control = {}) {
    return add("Op", std::move(inputs), control);
  }
  Output enter(Output data, const std::string& frame, bool is_constant = false,
               int64_t parallel_iterations = 10);
  /// Merge of `initial` and of a NextIteration that close() gives it.
  Output loop_merge(Output initial) { return add("Merge", {initial, initial}); }
  void close(Output merge, Output next);
  std::shared_ptr<const Plan> plan(std::vector<Output> feeds = {}, std::vector<Output> fetches = {}) const;

 private:
  Graph graph_;
};

}  // namespace troupe::testing

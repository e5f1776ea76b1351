// FlowGraph: small graphs of control flow for the tests of plans and step states, which have no kernels. Edges carry integers.
// Its ops are: Op (any number of inputs; computes a hash of them), Increment, Below (less than the attribute `limit`: 0 or 1),
// the control-flow ops of features.md F1-F9, with integers as predicates (odd means true), and _Send. One thread.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/build/graph.h"
#include "graph/plan/plan.h"

namespace troupe::testing {

std::shared_ptr<const OpTable> flow_ops();

/// Computes a node from its live inputs. Flow ops other than Op, Increment and Below forward input 0.
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
  /// Adds a Merge of `initial` and of a NextIteration that close() adds.
  Output loop_merge(Output initial) { return add("Merge", {initial, initial}); }
  void close(Output merge, Output next);
  std::shared_ptr<const Plan> plan(std::vector<Output> feeds = {}, std::vector<Output> fetches = {}) const;

 private:
  Graph graph_;
};

}  // namespace troupe::testing

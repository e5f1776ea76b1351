// ToyGraph: small graphs for the tests of the passes, which have no kernels. Its ops have the names and shape
// functions of real ops: a few sources, arithmetic, variables, control flow, Send and Recv. One thread.
#pragma once

#include <string>
#include <vector>

#include "graph/build/frames.h"
#include "graph/build/graph.h"

namespace troupe::testing {

std::shared_ptr<const OpTable> toy_ops();

struct ToyNode {
  std::string op;
  std::vector<Output> inputs;
  Attributes attrs;
  std::vector<NodeId> control;
  std::string device;
  std::vector<std::string> colocate_with;
};

class ToyGraph {
 public:
  ToyGraph() : graph_(toy_ops()) {}

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  /// Adds a node and returns its output 0. For a node without outputs, only the id of the result has a meaning.
  Output add(const std::string& name, ToyNode node);

  Output placeholder(const std::string& name) {
    return add(name, {"Placeholder", {}, {{"dtype", f32}}, {}, "", {}});
  }
  Output constant(const std::string& name, float value, const std::vector<NodeId>& control = {});
  /// Adds a VariableV2 of floats.
  Output variable(const std::string& name, const std::string& device = "");
  Output op(const std::string& name, const std::string& op, std::vector<Output> inputs,
            const std::vector<NodeId>& control = {}) {
    return add(name, {op, std::move(inputs), {}, control, "", {}});
  }
  Output on(const std::string& device, const std::string& name, const std::string& op,
            std::vector<Output> inputs, const std::vector<NodeId>& control = {}) {
    return add(name, {op, std::move(inputs), {}, control, device, {}});
  }
  Output enter(const std::string& name, Output data, const std::string& frame, bool is_constant = false);
  /// Adds a Merge of `initial` and of a NextIteration that close() adds.
  Output loop_merge(const std::string& name, Output initial) { return op(name, "Merge", {initial, initial}); }
  void close(Output merge, Output next) { throw_if_failed(graph_.replace_input(merge.node, 1, next)); }

  NodeId id(const std::string& name) const { return graph_.find(name)->id; }

 private:
  Graph graph_;
};

/// Returns true if the text of a failure contains this text.
inline bool says(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

}  // namespace troupe::testing

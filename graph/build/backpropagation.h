// Backpropagation: the backward pass of gradients() over the nodes on paths from xs to ys, which are in one frame. It takes a loop
// in that frame for one node, its LoopCond, on which the Exits depend and which depends on what the Enters read. One pass is used
// once. One thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/build/gradients.h"
#include "graph/build/loops.h"
#include "graph/build/recomputation.h"

namespace troupe {

inline bool present(const Gradient& gradient) { return !std::holds_alternative<std::monostate>(gradient); }

/// Returns the dtype of a gradient, or nothing if there is none. Throws Error(InvalidArgument) if it is of another graph.
std::optional<DType> dtype_of_gradient(const Scope& scope, const Gradient& gradient);

/// Combines the contributions to the gradient of `forward`, in the order in which they were added.
Gradient aggregate(const Scope& scope, const std::vector<Gradient>& parts, Output forward);

/// On which devices the gradients of nodes are computed.
enum class GradientDevices : uint8_t {
  OfScope,  ///< that of the scope of the pass, except where own_gradient_device_attr says otherwise
  OfNodes,  ///< the devices that the nodes request (graph/build/gradients_beside.h)
};

class Backpropagation {
 public:
  /// The nodes that the pass adds go to `scope`. `count` is the number of nodes of the forward graph.
  Backpropagation(const Scope& scope, Loops& loops, size_t count, std::span<const Output> ys,
                  std::span<const Output> xs, GradientDevices devices = GradientDevices::OfScope);

  /// Sets the gradient of a y.
  void seed(Output y, const Gradient& gradient) {
    if (between_[y.node]) contribute(y, gradient);
  }
  /// Computes the gradients of all nodes between. Throws Error as gradients() does.
  void run();
  Gradient of(Output x) { return between_[x.node] ? aggregated(x) : Gradient{}; }
  /// Returns the scope for the nodes that compute the gradients of a node.
  Scope scope_for(NodeId id) const;

 private:
  /// The values that carry a gradient through a loop.
  struct LoopPaths {
    std::vector<const LoopVariable*> variables;
    std::vector<NodeId> invariants;
    std::vector<Output> ys;  ///< what the body makes of the variables
    std::vector<Output> xs;  ///< the variables and the invariants in the body
  };

  bool carries_gradient(Output output) const;
  bool is_barrier(NodeId id) const;
  bool closes_loop(NodeId from, NodeId to) const { return is_back_edge(graph_.node(from), graph_.node(to)); }
  template <class Visit>
  void each_input(NodeId id, Visit visit) const;
  template <class Visit>
  void each_ordinary_input(NodeId id, Visit visit) const;
  std::vector<bool> reached_from(std::span<const Output> xs) const;
  void mark_between(std::span<const Output> ys, std::span<const Output> xs);

  Scope scope_of_sum(Output output, const std::vector<Gradient>& parts) const;
  void contribute(Output output, const Gradient& gradient);
  Gradient aggregated(Output output);
  void differentiate(NodeId id);
  void check_dtype(NodeId id, size_t input, const Gradient& gradient) const;

  // backpropagation_loops.cpp
  void differentiate(const Loop& loop);
  LoopPaths paths_through(const Loop& loop) const;
  bool extend(const Loop& loop, const std::vector<NodeId>& invariants, std::vector<bool>& active) const;
  bool extend_backward(const Loop& loop, const std::vector<bool>& active, std::vector<bool>& wanted) const;
  bool has_gradient_after(const LoopVariable& variable) const;
  bool depends_on_xs(NodeId enter) const;
  Output entering(NodeId enter) const { return graph_.node(enter).inputs[0]; }
  Output next_value(const LoopVariable& variable) const { return graph_.node(variable.next).inputs[0]; }
  Output gradient_after(const Scope& scope, const LoopVariable& variable);

  Scope scope_;
  Graph& graph_;
  Loops& loops_;
  size_t count_;
  GradientDevices devices_;
  std::vector<bool> between_;
  /// Per node: edges to consumers not yet differentiated, without back edges.
  std::vector<uint32_t> waiting_for_;
  std::vector<std::vector<std::vector<Gradient>>> contributions_;  ///< per node and output
  Recomputation recomputation_;
};

}  // namespace troupe

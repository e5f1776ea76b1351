// Recomputation: the copies of forward nodes from which gradients are computed, in place of the nodes themselves, so that results
// inside a segment (Scope::recomputed) need not be kept until the backward pass (features.md G10; Chen et al. 2016, "Training deep
// nets with sublinear memory cost"). Belongs to one call of gradients(). One thread.
//
//   x -> a -> b -> y     the segment of a, b and y; g is the gradient of y
//   x -> a'-> b'         a' waits for g; the gradients of y, b and a read b', a' and x. What y itself yields is kept: it leaves
//                        the segment, and what follows is likely to need it, too.
//
// Nodes in loops are not copied: a copy would read the values of one loop and wait for gradients in another one, and lists keep the
// values of all iterations anyway.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/build/gradients.h"
#include "graph/build/loops.h"

namespace troupe {

/// The attribute that names the segment of a node.
constexpr std::string_view segment_attr = "_recompute";
/// The attribute of a copy of a random node that names the original, whose numbers the copy draws, too.
constexpr std::string_view original_attr = "_original";
/// The attribute of all copies, which the passes must not keep for longer than the graph does.
constexpr std::string_view copy_attr = "_recomputed";

class Recomputation {
 public:
  /// For the nodes that the graph of `scope` has now, whose loops must outlive this. Copies are added in this scope.
  Recomputation(const Scope& scope, const Loops& loops);

  /// The nodes from which the gradient of a forward node is computed.
  struct Source {
    NodeId inputs;   ///< its inputs are those to read
    NodeId outputs;  ///< its outputs are those to read
  };
  /// Returns the sources for a forward node. The first call for a node of a segment adds copies of the whole segment, which wait
  /// for the gradients of this node's outputs.
  Source source(NodeId node, std::span<const Gradient> output_gradients);

 private:
  struct Segment {
    std::vector<NodeId> nodes;  ///< ascending, so that each comes after its inputs
    bool copied = false;
  };

  bool in_loop(NodeId node) const { return loops_.frame_of(node) != root_frame; }
  void copy(const Segment& segment, std::span<const Gradient> output_gradients);
  void copy(NodeId original, const std::vector<NodeId>& triggers);

  Scope scope_;
  const Loops& loops_;
  std::map<std::string, Segment, std::less<>> segments_;
  std::vector<bool> leaves_segment_;           ///< per node: whether a node outside of its segment uses it
  std::unordered_map<NodeId, NodeId> copies_;  ///< from originals
};

}  // namespace troupe

// Importer: adds the nodes of bodies to a graph. A body stands at a site: the graph itself, or one call of a function, whose nodes
// get the call's name before their own. What calls functions is left to apps/interop/calls.h. One import, one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/interop/body.h"
#include "apps/interop/function_library.h"
#include "apps/interop/graph_limits.h"
#include "graph/build/graph.h"

namespace troupe::interop {

/// Where a body is placed.
struct Site {
  const Site* around = nullptr;
  const FunctionDef* function = nullptr;               ///< null: the graph itself
  std::string prefix;                                  ///< of names; ends in '/'
  std::string device;                                  ///< of nodes that ask for none
  std::map<std::string_view, const AttrValue*> attrs;  ///< of the call: what placeholders stand for
  std::vector<std::vector<Output>> arguments;
  std::optional<NodeId> start;    ///< nodes without inputs run after this one
  bool start_before_all = false;  ///< and so do those with inputs

  /// The value, or what it stands for.
  const AttrValue& resolve(const AttrValue& value) const;
  int depth() const { return around ? around->depth() + 1 : 0; }
};

/// Is this what a file says of the shape of a resource handle? TensorFlow's handle is a scalar; here its edge has the shape of the
/// value it leads to, which such a file does not tell.
bool is_shape_of_handle(DType dtype, const PartialShape& shape);

/// The outputs of a node or call, and where those of each output argument begin.
struct Outputs {
  std::vector<Output> values;
  std::map<std::string_view, size_t> arguments;
};

/// The nodes of a body once they are in the graph.
struct Placed {
  std::vector<NodeId> nodes;                    ///< of a call: the one that runs after all of it
  std::unordered_map<uint32_t, Outputs> calls;  ///< what calls yield
  std::vector<NodeId> effects;  ///< nodes that change state or reach outside; kept for functions
};

class Importer {
 public:
  Importer(Graph& graph, const FunctionLibrary& library, const GraphLimits& limits)
      : graph_(graph), library_(library), limits_(limits), constant_bytes_(limits.constant_bytes) {}

  Graph& graph() { return graph_; }
  const FunctionLibrary& library() const { return library_; }
  const GraphLimits& limits() const { return limits_; }

  /// Every node of the body but those marked absent, which nothing else may need. Failures name op and node.
  Result<Placed> place(const Body& body, const Site& site, const std::vector<bool>& absent = {});
  /// The tensor a reference of the body means there. InvalidArgument when its node has no such output.
  Result<Output> find(const Body& body, Body::Input reference, const Site& site, const Placed& placed) const;
  /// Adds one node within limits.
  Result<NodeId> add(NodeSpec spec);
  /// Re-points the input of a Merge to what the loop goes on with, whose shape must be compatible.
  Status close_loop(NodeId merge, size_t input, Output next);
  /// The body of a function, for one more call; read once.
  Result<const Body*> body_of(const FunctionDef& function);

 private:
  struct Insertion;  ///< a body, its site, and what is placed already
  struct LaterInput {
    NodeId node;
    size_t input;
    Body::Input source;
  };

  Status place_node(Insertion& place, uint32_t i);
  Status read_edges(Insertion& place, uint32_t i, NodeSpec& spec);
  static bool is_first(const Insertion& place, uint32_t i);
  void hand_on_reference(NodeSpec& spec) const;
  Status read_device(const Insertion& place, const NodeDef& node, NodeSpec& spec);
  Status read_attrs(const Insertion& place, const NodeDef& node, const troupe::OpDef& op, NodeSpec& spec);
  Status read_colocation(const Insertion& place, const AttrValue& value, NodeSpec& spec) const;
  Status refine_shapes(NodeId node, const AttrValue& shapes);
  Status close(const Insertion& place);

  Graph& graph_;
  const FunctionLibrary& library_;
  const GraphLimits& limits_;
  struct Function {
    Body body;
    uint64_t bytes;
  };
  std::unordered_map<const FunctionDef*, Function> functions_;
  uint64_t constant_bytes_, outputs_ = 0, function_bytes_ = 0;
  std::string last_device_;  ///< which is known to be one
};

}  // namespace troupe::interop

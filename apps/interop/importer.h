// Importer: adds the nodes of bodies to a graph. Each body is placed at a site: the graph itself, or one call of a function; then
// the names of its nodes begin with the name of the call. apps/interop/functions/calls.h handles the nodes that call functions.
// Owned by one import; one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/interop/body.h"
#include "apps/interop/functions/function_library.h"
#include "apps/interop/graph_limits.h"
#include "graph/build/graph.h"

namespace troupe::interop {

/// Where a body is placed.
struct Site {
  const Site* around = nullptr;                        ///< the site that contains the call; null: none
  const FunctionDef* function = nullptr;               ///< null: the graph itself
  std::string prefix;                                  ///< the prefix of names; ends in '/'
  std::string device;                                  ///< the device of nodes that request none
  std::map<std::string_view, const AttrValue*> attrs;  ///< attributes of the call, the values of placeholders
  std::vector<std::vector<Output>> arguments;
  std::optional<NodeId> start;    ///< if set, nodes without inputs run after this node
  bool start_before_all = false;  ///< if true, nodes with inputs run after `start`, too

  /// Returns the value or, if it is a placeholder, the value for which it stands.
  const AttrValue& resolve(const AttrValue& value) const;
  int depth() const { return around ? around->depth() + 1 : 0; }
};

/// Returns whether this is the shape of a resource handle in a file. TensorFlow's handle is a scalar. In Troupe its edge has the
/// shape of the variable's value, so the shape in the file says nothing.
bool is_shape_of_handle(DType dtype, const PartialShape& shape);

/// The outputs of a node or call, and the index of the first output of each output argument.
struct Outputs {
  std::vector<Output> values;
  std::map<std::string_view, size_t> arguments;
};

/// The nodes of a body after they have been added to the graph.
struct Placed {
  std::vector<NodeId> nodes;                    ///< by index in the body; for a call, PlacedCall::done
  std::unordered_map<uint32_t, Outputs> calls;  ///< the outputs of calls, by index in the body
  std::vector<NodeId> effects;  ///< in functions: nodes that change state or have other effects
};

class CalledFunctions;

class Importer {
 public:
  Importer(Graph& graph, const FunctionLibrary& library, CalledFunctions& called, const GraphLimits& limits)
      : graph_(graph), library_(library), called_(called), limits_(limits),
        used_(std::make_shared<Used>(limits.constant_bytes)) {}
  /// For the body of a function, which has a graph of its own. It shares the limits of `outer`.
  Importer(Graph& graph, const Importer& outer)
      : graph_(graph), library_(outer.library_), called_(outer.called_), limits_(outer.limits_),
        used_(outer.used_) {}

  Graph& graph() { return graph_; }
  const FunctionLibrary& library() const { return library_; }
  CalledFunctions& called() { return called_; }
  const GraphLimits& limits() const { return limits_; }

  /// Adds every node of the body except those marked absent, which no other node may need. Errors name op and node.
  Result<Placed> place(const Body& body, const Site& site, const std::vector<bool>& absent = {});
  /// Returns the output in the graph for a reference of the body. Fails with InvalidArgument if its node has no such output.
  Result<Output> find(const Body& body, Body::Input reference, const Site& site, const Placed& placed) const;
  /// Adds one node. Fails with ResourceExhausted if a limit is exceeded.
  Result<NodeId> add(NodeSpec spec);
  /// Replaces an input of a Merge by the value of the next iteration, whose shape must be compatible.
  Status close_loop(NodeId merge, size_t input, Output next);
  /// Returns the body of a function for one more call. It is parsed at the first call; each call counts towards the limits.
  Result<const Body*> body_of(const FunctionDef& function);

 private:
  struct Insertion;  ///< a body, its site, and the nodes placed so far
  struct LaterInput {
    NodeId node;
    size_t input;
    Body::Input source;
  };

  Status place_node(Insertion& place, uint32_t i);
  Status read_edges(Insertion& place, uint32_t i, NodeSpec& spec);
  static bool is_first(const Insertion& place, uint32_t i);
  void forward_reference(NodeSpec& spec) const;
  Status read_device(const Insertion& place, const NodeDef& node, NodeSpec& spec);
  Status read_attrs(const Insertion& place, const NodeDef& node, const troupe::OpDef& op, NodeSpec& spec);
  Status read_colocation(const Insertion& place, const AttrValue& value, NodeSpec& spec) const;
  Status refine_shapes(NodeId node, const AttrValue& shapes);
  Status close(const Insertion& place);

  Graph& graph_;
  const FunctionLibrary& library_;
  CalledFunctions& called_;
  const GraphLimits& limits_;
  struct ParsedFunction {
    Body body;
    uint64_t bytes;
  };
  /// What counts towards the limits.
  struct Used {
    explicit Used(uint64_t constants) : constant_bytes(constants) {}
    uint64_t constant_bytes;  ///< how many are left
    uint64_t nodes = 0, outputs = 0, function_bytes = 0;
  };
  std::unordered_map<const FunctionDef*, ParsedFunction> functions_;
  const std::shared_ptr<Used> used_;
  std::string last_device_;  ///< the last valid device name, which need not be parsed again
};

}  // namespace troupe::interop

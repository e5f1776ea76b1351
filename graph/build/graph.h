// Graph: nodes and the edges between them, with a library of functions. Users of a graph only add nodes (features.md
// C1); the passes of the master work on copies. One thread at a time may use a graph; threads may share a const Graph.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/build/absent_nodes.h"
#include "graph/ops/op_table.h"

#pragma GCC visibility push(default)
namespace troupe {

using NodeId = uint32_t;

/// One output of a node, where edges start. If `index` is `control`, it stands for the node itself
/// ("^name"): a target to run, or a source of control edges. A default constructed Output refers to no node.
struct Output {
  static constexpr uint32_t control = UINT32_MAX;
  static constexpr NodeId no_node = UINT32_MAX;
  NodeId node = no_node;
  uint32_t index = 0;
  /// Graph::stamp() of its graph, or 0 if unknown. The graph builder and Session check it for every Output they
  /// are given. It does not count when outputs are compared, so passes, which know their graph, leave it out.
  uint32_t graph = 0;
  bool is_control() const { return index == control; }
  friend bool operator==(const Output& a, const Output& b) { return a.node == b.node && a.index == b.index; }
  friend std::strong_ordering operator<=>(const Output& a, const Output& b) {
    return a.node != b.node ? a.node <=> b.node : a.index <=> b.index;
  }
};

struct OutputHash {
  size_t operator()(const Output& output) const {
    return std::hash<uint64_t>{}(uint64_t{output.node} << 32 | output.index);
  }
};

/// The type of an edge: a dtype, and whether the edge carries a reference to a variable in place of a value.
struct EdgeType {
  DType dtype = DType::Invalid;
  bool is_ref = false;
  friend bool operator==(const EdgeType&, const EdgeType&) = default;
};

struct Node {
  NodeId id = 0;
  std::string name;
  const OpDef* op = nullptr;
  Attributes attrs;                    ///< all attributes, with defaults, and with inferred types and numbers
  std::vector<Output> inputs;          ///< flattened, in the order of the op's arguments; their stamps are 0
  std::vector<NodeId> control_inputs;  ///< sorted, without duplicates
  std::string device;                  ///< the requested device, possibly a partial name; empty: any
  std::vector<std::string> colocate_with;  ///< names of nodes that must run on the same device
  std::vector<EdgeType> output_types;
  std::vector<PartialShape> output_shapes;
  std::vector<bool> expects_ref;  ///< for each input: true if the op needs the reference, not the value

  const std::string& type() const { return op->name; }
};

/// A node to be added. Attributes that the inputs or the defaults determine may be left out.
struct NodeSpec {
  std::string name;
  std::string op;
  Attributes attrs;
  std::vector<Output> inputs;
  std::vector<NodeId> control_inputs;
  std::string device;
  std::vector<std::string> colocate_with;
};

class Graph;

/// A function of the library. Its arguments are _Arg nodes of the body, its results are outputs of the body.
struct Function {
  std::string name;
  std::shared_ptr<const Graph> body;
  std::vector<NodeId> arguments;
  std::vector<Output> results;
};

class Graph {
 public:
  explicit Graph(std::shared_ptr<const OpTable> ops);

  /// Checks a node against its op's definition (attributes, number and types of inputs, shapes) and adds it. Fails
  /// with InvalidArgument, NotFound or AlreadyExists, naming op, node and what is wrong; then the graph is unchanged.
  Result<NodeId> add(NodeSpec spec);
  /// Replaces one input of a node, to close a loop at its Merge, or to
  /// insert a feed. A session takes over new nodes when it prepares or runs a step. It does not see what this function and the next
  /// three change in a node afterwards. Fails with InvalidArgument if there is no such node or input, or the dtypes differ.
  Status replace_input(NodeId node, size_t index, Output source);
  /// Makes a node wait for another. Fails with InvalidArgument if one of them does not exist.
  Status add_control_input(NodeId node, NodeId source);
  /// Sets the device that a node requests; a partial name, or "" for any device. Throws Error(InvalidArgument) if there is no such
  /// node.
  void set_device(NodeId node, std::string device);
  /// Adds to what is known about an output's shape. Fails with InvalidArgument if `shape` contradicts that.
  Status refine_shape(Output output, const PartialShape& shape);

  /// Returns a graph without nodes, but with the same ops and functions, for the result of a pass.
  Graph empty() const;
  void reserve(size_t nodes);
  /// Adds a node of another graph with the same ops. Its inputs are ids of this graph already, and may refer to nodes added
  /// later. Nothing is checked (the name must be free: asserted), because passes only rearrange nodes that add() has checked.
  NodeId append(Node node);
  /// Returns the nodes, for a pass that edits them and appends those that remain to another graph.
  std::vector<Node> release() &&;

  size_t size() const { return nodes_.size(); }
  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  /// Returns null if there is no node of this name.
  const Node* find(std::string_view name) const;
  /// Returns the output called "name" or "name:k". Fails with NotFound, naming the most similar
  /// node, or with InvalidArgument. For an absent node it fails with the reason of its absence.
  Result<Output> find_output(std::string_view name) const;
  /// Returns the node of this name as a target (Output::control). Fails as find_output() does.
  Result<Output> find_target(std::string_view name) const;
  /// Returns true if the node and the output exist. Does not compare stamps.
  bool contains(Output output) const;
  /// Returns Ok for an output or node of this graph. Fails with InvalidArgument and a text such as
  /// "belongs to another graph", which callers put behind a subject. For outputs that users provide.
  Status check(Output output) const;
  /// Does the same, and also fails for nodes (Output::control).
  Status check_tensor(Output output) const;
  /// Returns this output with the stamp of this graph.
  Output output(NodeId node, uint32_t index) const { return {node, index, stamp_}; }
  /// Returns a number that identifies this graph, and its copies, in this process.
  uint32_t stamp() const { return stamp_; }
  /// Returns "name:k", or "^name" for a node.
  std::string name_of(Output output) const;

  EdgeType type(Output output) const { return nodes_[output.node].output_types[output.index]; }
  DType dtype(Output output) const { return type(output).dtype; }
  const PartialShape& shape(Output output) const { return nodes_[output.node].output_shapes[output.index]; }
  /// Returns the value of a Const node, also through the nodes by which branches and
  /// loops see it (Switch, constant Enter, Identity); null if the output is not constant.
  const Tensor* constant(Output output) const;

  /// Returns `base` if no node has this name, else the first free name of base_1, base_2, ...
  std::string unique_name(std::string_view base) const;
  /// Returns a number that grows with every change. Extend uses it as an optimistic lock.
  uint64_t version() const { return version_; }
  const std::shared_ptr<const OpTable>& ops() const { return ops_; }

  /// The nodes that are in the graph's file but not in the graph.
  const AbsentNodes& absent() const { return absent_; }
  void note_absent(std::string name, AbsentNodes::Node node) {
    absent_.add(std::move(name), std::move(node));
  }

  /// Adds a function to the library. Fails with AlreadyExists if there is one of this name.
  Status add_function(Function function);
  /// Returns null if there is no function of this name.
  const Function* find_function(std::string_view name) const;
  const std::map<std::string, Function, std::less<>>& functions() const { return functions_; }

 private:
  Result<const Node*> require(std::string_view name) const;

  std::shared_ptr<const OpTable> ops_;
  uint32_t stamp_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, NodeId> index_;
  mutable std::unordered_map<std::string, uint32_t> next_suffix_;
  std::map<std::string, Function, std::less<>> functions_;
  AbsentNodes absent_;
  uint64_t version_ = 0;
};

/// Returns true for a valid name of a node (features.md B1): letters,
/// digits, '_', '.', '-', '/' and '>', not starting with '-' or '/'.
bool valid_node_name(std::string_view name);

/// Returns the device that a node requests, itself or through the first of the nodes with which it is colocated; "" for any.
const std::string& requested_device(const Graph& graph, NodeId node);

/// Returns true if the edge closes a loop: if it leads from a NextIteration to the Merge at which the next iteration begins.
bool is_back_edge(const Node& from, const Node& to);

/// Returns the ids in an order in which every node comes after its inputs and control inputs, except
/// for back edges of loops. Fails with InvalidArgument, naming a node, if there is any other cycle.
Result<std::vector<NodeId>> topological_order(std::span<const Node> nodes);
inline Result<std::vector<NodeId>> topological_order(const Graph& graph) {
  return topological_order(graph.nodes());
}

}  // namespace troupe
#pragma GCC visibility pop

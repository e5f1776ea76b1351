// Graph: operations and the edges between them, with a library of functions. Append-only for those who build it (features.md
// C1); the passes of the master work on copies. One thread at a time; a const Graph may be shared.
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

/// One output of a node: where an edge starts. With index `control` it stands for the node itself ("^name"): a target to run,
/// or a source of control edges. Output{} is no output of any graph.
struct Output {
  static constexpr uint32_t control = UINT32_MAX;
  static constexpr NodeId no_node = UINT32_MAX;
  NodeId node = no_node;
  uint32_t index = 0;
  /// Graph::stamp() of its graph, or 0 where that is not known. The builder and Session compare it where they are handed an
  /// Output; it is no part of an Output's identity, so that passes, which know their graph, leave it out.
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

/// The type of an edge: a dtype, and whether a reference to mutable state travels instead of a value.
struct EdgeType {
  DType dtype = DType::Invalid;
  bool is_ref = false;
  friend bool operator==(const EdgeType&, const EdgeType&) = default;
};

struct Node {
  NodeId id = 0;
  std::string name;
  const OpDef* op = nullptr;
  Attributes attrs;                        ///< complete: defaults filled in, types and arities inferred
  std::vector<Output> inputs;              ///< flattened, in the order of the op's arguments; without stamps
  std::vector<NodeId> control_inputs;      ///< sorted, each once
  std::string device;                      ///< as requested, possibly partial; empty: anywhere
  std::vector<std::string> colocate_with;  ///< names of nodes to share a device with
  std::vector<EdgeType> output_types;
  std::vector<PartialShape> output_shapes;
  std::vector<bool> expects_ref;  ///< per input: the op wants the reference, not the value

  const std::string& type() const { return op->name; }
};

/// What a caller says of a node to be added. Attributes that the inputs or defaults determine may be left out.
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

/// A named sub-graph of the library: its arguments are _Arg nodes, its results the given outputs.
struct Function {
  std::string name;
  std::shared_ptr<const Graph> body;
  std::vector<NodeId> arguments;
  std::vector<Output> results;
};

class Graph {
 public:
  explicit Graph(std::shared_ptr<const OpTable> ops);

  /// Checks everything the op's definition says (attributes, number and types of inputs, shapes) and adds the node.
  /// InvalidArgument / NotFound / AlreadyExists tell op, node and what differs; the graph is then unchanged.
  Result<NodeId> add(NodeSpec spec);
  /// Re-points one input: closes a loop at its Merge, cuts feeds in. Types must agree.
  Status replace_input(NodeId node, size_t index, Output source);
  Status add_control_input(NodeId node, NodeId source);
  void set_device(NodeId node, std::string device);
  /// Narrows what is known of an output's shape; InvalidArgument when it contradicts.
  Status refine_shape(Output output, const PartialShape& shape);

  /// No nodes yet, but the same ops and functions: where a pass puts its result.
  Graph empty() const;
  void reserve(size_t nodes);
  /// Takes over a node of another graph with the same ops, its inputs already translated to ids here; they may point forward.
  /// Everything is trusted (the name must be free: asserted): for passes, which only rearrange what add() has checked.
  NodeId append(Node node);
  /// The nodes, for a pass that edits them and appends what remains to another graph.
  std::vector<Node> release() &&;

  size_t size() const { return nodes_.size(); }
  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  /// Null when there is none.
  const Node* find(std::string_view name) const;
  /// "name", "name:k"; NotFound or InvalidArgument with the nearest name; of an absent node, the reason.
  Result<Output> find_output(std::string_view name) const;
  /// The node of this name as a target (Output::control). Fails like find_output.
  Result<Output> find_target(std::string_view name) const;
  /// Whether the number of the node and the index are some of this graph's; the stamp is not looked at.
  bool contains(Output output) const;
  /// Ok for an output, or a node, of this graph; InvalidArgument says what `output` is instead. For what users hand in.
  Status check(Output output) const;
  /// The same, but a tensor it must be.
  Status check_tensor(Output output) const;
  /// That output, with the stamp of this graph.
  Output output(NodeId node, uint32_t index) const { return {node, index, stamp_}; }
  /// A number that no other graph made in this process has, except copies of this one, which share its outputs.
  uint32_t stamp() const { return stamp_; }
  /// "name:k".
  std::string name_of(Output output) const;

  EdgeType type(Output output) const { return nodes_[output.node].output_types[output.index]; }
  DType dtype(Output output) const { return type(output).dtype; }
  const PartialShape& shape(Output output) const { return nodes_[output.node].output_shapes[output.index]; }
  /// The value of a Const node's output, also as a branch or loop sees it (through Switch, constant Enter, Identity); or null.
  const Tensor* constant(Output output) const;

  /// `base`, or base_1, base_2, ... whichever is free.
  std::string unique_name(std::string_view base) const;
  /// Bumped by every change; the optimistic lock of Extend.
  uint64_t version() const { return version_; }
  const std::shared_ptr<const OpTable>& ops() const { return ops_; }

  /// The nodes that the graph's file has and the graph has not.
  const AbsentNodes& absent() const { return absent_; }
  void note_absent(std::string name, AbsentNodes::Node node) {
    absent_.add(std::move(name), std::move(node));
  }

  Status add_function(Function function);
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

/// Letters, digits, '_', '.', '-', '/' and no '-' or '/' first: what a node may be called (features.md B1).
bool valid_node_name(std::string_view name);

/// Whether the edge closes a loop: it leads from a NextIteration to the Merge where its frame's next iteration begins.
bool is_back_edge(const Node& from, const Node& to);

/// Node ids so that every node comes after its inputs and control inputs; edges into a Merge from a NextIteration are ignored.
/// InvalidArgument naming a node when there is any other cycle.
Result<std::vector<NodeId>> topological_order(std::span<const Node> nodes);
inline Result<std::vector<NodeId>> topological_order(const Graph& graph) {
  return topological_order(graph.nodes());
}

}  // namespace troupe
#pragma GCC visibility pop

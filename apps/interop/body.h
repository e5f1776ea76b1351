// Body: the nodes of a graph or of a function as a file lists them. It resolves the references between nodes and provides an order
// in which each node comes after those it refers to. It points into the message that was read, which must outlive it. Immutable
// once made; any thread.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/interop/graph_def.pb.h"
#include "messages/values/status.h"

namespace troupe::interop {

class Body {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<NodeDef>;
  /// A source below size() is the index of a node; size() + i is the i-th argument.
  struct Input {
    uint32_t source;
    std::string_view output;  ///< the text after the first colon; empty if there is none
  };

  /// Resolves the references of the nodes, which may also refer to `arguments`. Fails with AlreadyExists if two nodes or arguments
  /// have the same name; with InvalidArgument if a reference names nothing, if an input follows a control input, or if a cycle is
  /// not closed by a NextIteration. The error names the node.
  static Result<Body> make(const Nodes& nodes, std::vector<std::string_view> arguments = {});

  uint32_t size() const { return static_cast<uint32_t>(nodes_->size()); }
  const NodeDef& node(uint32_t i) const { return (*nodes_)[static_cast<int>(i)]; }
  std::span<const Input> inputs(uint32_t i) const {
    return {inputs_.data() + first_input_[i], inputs_.data() + first_input_[i + 1]};
  }
  /// Returns the sources of the control inputs of node i, in the order of the file.
  std::span<const uint32_t> controls(uint32_t i) const {
    return {controls_.data() + first_control_[i], controls_.data() + first_control_[i + 1]};
  }
  /// Returns all nodes in an order in which each comes after its inputs and control inputs, except for those that close a loop. The
  /// order of the file is kept if it is such an order.
  const std::vector<uint32_t>& order() const { return order_; }

  /// Resolves a reference in the form of an input, "node:1" or "node". Fails with NotFound if there is no such node or argument.
  Result<Input> find(std::string_view reference) const;

 private:
  Body(const Nodes& nodes, std::vector<std::string_view> arguments);
  Status name_nodes();
  Status read_inputs();
  Status sort();
  bool closes_loop(uint32_t from, uint32_t to) const;
  Status fail(uint32_t node, Status status) const;

  const Nodes* nodes_;
  std::vector<std::string_view> arguments_;
  std::unordered_map<std::string_view, uint32_t> index_;
  std::vector<Input> inputs_;
  std::vector<uint32_t> first_input_, controls_, first_control_, order_;
};

}  // namespace troupe::interop

// Body: nodes as a file has them, a whole graph or a function's: who refers to whom, and an order in which each can be added after
// those it refers to. Points into the message that was read, which must outlive it. Const once made.
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
  /// A source below size() is a node of the body, others are its arguments in turn.
  struct Input {
    uint32_t source;
    std::string_view output;  ///< what stands behind the first colon; empty: nothing
  };

  /// `arguments`: what else the nodes may refer to. AlreadyExists when a name is there twice, InvalidArgument for a reference to
  /// nothing, for an input behind a control input, and for a cycle that no NextIteration closes; all name the node.
  static Result<Body> make(const Nodes& nodes, std::vector<std::string_view> arguments = {});

  uint32_t size() const { return static_cast<uint32_t>(nodes_->size()); }
  const NodeDef& node(uint32_t i) const { return (*nodes_)[static_cast<int>(i)]; }
  std::span<const Input> inputs(uint32_t i) const {
    return {inputs_.data() + first_input_[i], inputs_.data() + first_input_[i + 1]};
  }
  /// Sources of control edges, in the order written.
  std::span<const uint32_t> controls(uint32_t i) const {
    return {controls_.data() + first_control_[i], controls_.data() + first_control_[i + 1]};
  }
  /// All nodes, each after its inputs and control inputs but those that close a loop; as in the file where that is such an order.
  const std::vector<uint32_t>& order() const { return order_; }

  /// "node:1", "node", as in an input; NotFound tells what is there instead.
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

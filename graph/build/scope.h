// Scope: the interface of the graph builder. It says where new nodes go: the graph, a name prefix, a
// device, control dependencies and colocation. Cheap to copy: every with_...() returns a new Scope and does
// not change the old one. Failures throw Error, with op, node and shapes. One thread at a time per graph.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/build/device_function.h"
#include "graph/build/graph.h"
#include "messages/values/device_name.h"

namespace troupe {
class FlowContext;  // graph/build/flow_context.h, not public
}

#pragma GCC visibility push(default)
namespace troupe {

/// A value for a parameter of a constructor: an edge; a number or a list ({a, b}, {{1, 2}, {3,
/// 4}}), which gets the dtype of the other inputs; a tensor; a shape; or the value of an attribute.
class Argument {
 public:
  using Value = std::variant<Output, std::vector<Output>, int64_t, double, bool, std::string, DType,
                             PartialShape, Tensor, std::vector<Argument>>;
  Argument(Output output) : value_(output) {}  // NOLINT: all of these are meant to convert
  Argument(std::vector<Output> outputs) : value_(std::move(outputs)) {}  // NOLINT
  /// Throws Error(InvalidArgument) if the number exceeds an int64.
  template <std::integral T>
  Argument(T value) : value_(integer(value)) {}                      // NOLINT
  Argument(double value) : value_(value) {}                          // NOLINT
  Argument(bool value) : value_(value) {}                            // NOLINT
  Argument(const char* value) : value_(std::string(value)) {}        // NOLINT
  Argument(std::string value) : value_(std::move(value)) {}          // NOLINT
  Argument(DType value) : value_(value) {}                           // NOLINT
  Argument(PartialShape value) : value_(std::move(value)) {}         // NOLINT
  Argument(Tensor value) : value_(std::move(value)) {}               // NOLINT
  Argument(std::vector<Argument> list) : value_(std::move(list)) {}  // NOLINT
  Argument(const std::vector<int64_t>& list)
      : value_(std::vector<Argument>(list.begin(), list.end())) {}                         // NOLINT
  Argument(std::initializer_list<Argument> list) : value_(std::vector<Argument>(list)) {}  // NOLINT

  const Value& value() const { return value_; }

 private:
  template <std::integral T>
  static int64_t integer(T value) {
    if constexpr (std::unsigned_integral<T>)
      if (value > static_cast<uint64_t>(INT64_MAX)) refuse(value);
    return static_cast<int64_t>(value);
  }
  [[noreturn]] static void refuse(uint64_t value);

  Value value_;
};

using NamedArguments = std::vector<std::pair<std::string, Argument>>;

class Scope {
 public:
  explicit Scope(Graph& graph) : graph_(&graph) {}

  Scope with_prefix(std::string_view prefix) const;  ///< names become "prefix/..."
  Scope with_name(std::string_view name) const;      ///< names the next node; a suffix makes the name unique
  /// Requests a device for new nodes. Components that `device` does not set come from the outer scope (features.md H3).
  Scope with_device(std::string_view device) const;
  /// Asks a function for the devices of new nodes, apart from those that are colocated with another node.
  Scope with_device(DeviceFunction function) const;
  Scope with_control(const std::vector<Output>& sources) const;  ///< new nodes also run after these
  Scope without_control() const;                                 ///< new nodes have no control inputs
  /// Makes new nodes run on the device of this node. They request the device that it requests, in place of that of the scope,
  /// because a step may need a new node without this one.
  Scope colocated_with(Output output) const;
  /// Puts new nodes into a segment, whose name begins with the prefix. gradients() does not keep what is computed inside a segment
  /// until the backward pass: it computes it again there, from what enters the segment, bit for bit. This takes more time and less
  /// memory (features.md G10). Inside a segment, a further one has no effect.
  Scope recomputed(std::string_view segment) const;
  /// For use inside a branch or loop: imports what nodes use from outside, and makes nodes run when the branch or iteration does.
  Scope in_context(std::shared_ptr<FlowContext> context) const;

  Graph& graph() const { return *graph_; }
  /// Returns the same output. This and the next two functions throw Error(InvalidArgument) unless it is a tensor of this graph.
  Output checked(Output output) const;
  DType dtype(Output output) const { return graph_->dtype(checked(output)); }
  const PartialShape& shape(Output output) const { return graph_->shape(checked(output)); }
  const std::string& prefix() const { return prefix_; }
  /// Returns null outside all branches and loops.
  const std::shared_ptr<FlowContext>& context() const { return context_; }

  /// Adds a node of op `op` with flattened inputs. The node gets the name of the scope, or else that of the op.
  NodeId add(std::string_view op, std::vector<Output> inputs, Attributes attrs = {}) const;
  /// Does the same and returns the node's first output.
  Output add_one(std::string_view op, std::vector<Output> inputs, Attributes attrs = {}) const {
    return graph_->output(add(op, std::move(inputs), std::move(attrs)), 0);
  }
  /// Calls a constructor of the op table by its name, as expressions in config files do: numbers
  /// get the dtype of the other inputs, and parameters that are not given their defaults.
  Output call(std::string_view constructor, const std::vector<Argument>& positional,
              const NamedArguments& named = {}) const;

  /// Returns all outputs of the node of `output`.
  std::vector<Output> outputs(Output output) const;

  /// Adds a Const node.
  Output constant(const Tensor& value) const;
  /// Adds a NoOp that runs after all of `sources`, and returns it as a target (Output::control).
  Output group(const std::vector<Output>& sources) const;

 private:
  struct DeviceLayer;
  std::string device_of(const NodeSpec& node) const;

  Graph* graph_;
  std::string prefix_, name_, segment_;
  DeviceName device_;                           ///< what the scopes inside of the layers below request
  std::shared_ptr<const DeviceLayer> devices_;  ///< the innermost device function; null: there is none
  std::vector<NodeId> control_;
  std::vector<std::string> colocate_with_;
  std::shared_ptr<FlowContext> context_;
};

}  // namespace troupe
#pragma GCC visibility pop

// Scope: where new nodes go: a graph, a name prefix, a device, control dependencies, colocation. The builder's front door.
// Cheap to copy; every with_...() gives a new Scope and leaves the old one as it was. Its functions throw Error, with op, node
// and shapes. One thread at a time per graph.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/build/graph.h"
#include "messages/values/device_name.h"

namespace troupe {
class FlowContext;  // graph/build/flow_context.h, not public
}

#pragma GCC visibility push(default)
namespace troupe {

/// What may stand for a parameter of a constructor: an edge; a number or a list, {a, b} or {{1, 2}, {3, 4}}, that takes the type
/// of the other inputs; a tensor; a shape; or the value of an attribute.
class Argument {
 public:
  using Value = std::variant<Output, std::vector<Output>, int64_t, double, bool, std::string, DType,
                             PartialShape, Tensor, std::vector<Argument>>;
  Argument(Output output) : value_(output) {}  // NOLINT: all of these are meant to convert
  Argument(std::vector<Output> outputs) : value_(std::move(outputs)) {}  // NOLINT
  template <std::integral T>
  Argument(T value) : value_(static_cast<int64_t>(value)) {}         // NOLINT
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
  Value value_;
};

using NamedArguments = std::vector<std::pair<std::string, Argument>>;

class Scope {
 public:
  explicit Scope(Graph& graph) : graph_(&graph) {}

  Scope with_prefix(std::string_view prefix) const;  ///< names become "prefix/..."
  Scope with_name(std::string_view name) const;      ///< the name of the next node (made unique if taken)
  Scope with_device(
      std::string_view device) const;  ///< merged with the outer device, the inner wins (features.md H3)
  Scope with_control(const std::vector<Output>& sources) const;  ///< nodes run after these, too
  Scope without_control() const;
  Scope colocated_with(Output output) const;
  /// Inside a branch or loop: what nodes use from outside is brought in, and they run when it does.
  Scope in_context(std::shared_ptr<FlowContext> context) const;

  Graph& graph() const { return *graph_; }
  /// The same output; throws Error(InvalidArgument) for what is no tensor of this graph, as the two below do.
  Output checked(Output output) const;
  DType dtype(Output output) const { return graph_->dtype(checked(output)); }
  const PartialShape& shape(Output output) const { return graph_->shape(checked(output)); }
  const std::string& prefix() const { return prefix_; }
  /// Null outside every branch and loop.
  const std::shared_ptr<FlowContext>& context() const { return context_; }

  /// Adds a node of op type `op` with flattened inputs; the name is the scope's, or made from the op's.
  NodeId add(std::string_view op, std::vector<Output> inputs, Attributes attrs = {}) const;
  /// The same, for the usual op with one output of interest.
  Output add_one(std::string_view op, std::vector<Output> inputs, Attributes attrs = {}) const {
    return graph_->output(add(op, std::move(inputs), std::move(attrs)), 0);
  }
  /// Calls a constructor of the op table by its name, as expressions in config files do: numbers take the type of the other
  /// inputs, missing parameters their defaults.
  Output call(std::string_view constructor, const std::vector<Argument>& positional,
              const NamedArguments& named = {}) const;

  /// All outputs of the op that yields `output`.
  std::vector<Output> outputs(Output output) const;

  /// A Const node.
  Output constant(const Tensor& value) const;
  /// A NoOp after all of `sources`; its node is the target that runs them.
  Output group(const std::vector<Output>& sources) const;

 private:
  Graph* graph_;
  std::string prefix_, name_;
  DeviceName device_;
  std::vector<NodeId> control_;
  std::vector<std::string> colocate_with_;
  std::shared_ptr<FlowContext> context_;
};

}  // namespace troupe
#pragma GCC visibility pop

// Host functions: functions of the program that nodes call when a step runs, with the values of their inputs (PyFunc; features.md
// B12). They run on the host, in the process that has added the node: elsewhere, and in a graph that was read from a file, the node
// fails. Any thread may call these functions; one thread at a time per graph.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Returns the values of the outputs. Threads of the runtime call it, several of them at once for concurrent steps. A failure, or
/// an exception, makes the step fail.
using HostFunction = std::function<Result<std::vector<Tensor>>(std::span<const Tensor> inputs)>;

struct HostFunctionOptions {
  /// A function without state is a function of its inputs alone: it may be called once for equal nodes, or before the first step
  /// if its inputs are constants.
  bool has_state = true;
  /// If set, computes the gradients of the inputs. Its arguments are the inputs, followed by the gradients of those outputs that
  /// are of a floating or complex dtype; it returns a gradient for each input of such a dtype, of the same dtype. Without it, no
  /// gradient passes the node.
  HostFunction gradient = {};
};

struct HostCall {
  NodeId node = 0;
  std::vector<Output> outputs;
  /// The node finds its function, and the gradient, while this is held.
  std::shared_ptr<const void> function;
};

/// Adds a node that calls `function`. Its outputs have these dtypes, and unknown shapes (see EnsureShape). Throws Error as the
/// graph builder does.
HostCall call_host(const Scope& scope, HostFunction function, const std::vector<Output>& inputs,
                   const std::vector<DType>& dtypes, HostFunctionOptions options = {});

}  // namespace troupe
#pragma GCC visibility pop

// Runs single ops in tests: builds a graph of one node with sources of a chosen kind, runs its kernel on the CPU,
// and returns what was inferred. Failures are reported through Boost.Test by the functions that check. One thread.
#pragma once

#include <string>
#include <vector>

#include "kernels/core/kernel.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {

/// What the graph knows about the inputs of the node. Shape functions must agree with the kernel in each case.
enum class Known { Values, Shapes, Nothing };

/// The graph of one op with a source for each of its inputs. References are variables with the
/// shape of the given tensor. The node is called "node", because random ops depend on the name.
struct SingleOp {
  static Result<SingleOp> make(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs,
                               Known known);
  const Node& node() const { return graph.node(id); }
  /// Returns how many tensors the kernel makes: one for each output, or for an op that writes variables, one for each new value.
  size_t results() const;

  Graph graph;
  NodeId id = 0;
  std::vector<Output> sources;
};

/// Returns the outputs of `op`, or the failure of the graph (shape function, attributes) or the kernel. The
/// outputs of an op that writes variables are their new values. Checks that the inferred shapes are right.
Result<std::vector<Tensor>> run_op(const std::string& op, const std::vector<Tensor>& inputs,
                                   Attributes attrs = {}, Known known = Known::Values,
                                   const StepInfo& step = {}, size_t threads = 1);

/// Checks the outputs bit by bit, for whatever is known about the inputs.
void check_op(const std::string& op, const std::vector<Tensor>& inputs, const Attributes& attrs,
              const std::vector<Tensor>& expected);
/// Checks that the op fails with InvalidArgument and `text` in its message, for whatever is known about the inputs.
void check_refused(const std::string& op, const std::vector<Tensor>& inputs, const Attributes& attrs,
                   const std::string& text);

/// Returns "float[2] 1 2", for messages.
std::string text_of(const Tensor& tensor);

/// Short forms for tensors.
Tensor floats(const Shape& shape, std::initializer_list<float> values);
Tensor ints(std::initializer_list<int32_t> values);
Tensor ints(const Shape& shape, std::initializer_list<int32_t> values);
Tensor int_scalar(int32_t value);
Tensor strings(std::initializer_list<std::string> values);
/// Returns 0, 1, 2, ... with this shape.
Tensor counting(const Shape& shape);

}  // namespace troupe::test

// Runs single ops in tests: a graph of one node on sources of a chosen kind, its kernel on the CPU, and what
// was inferred before. Test code; one thread. Failures are reported through Boost.Test where they are
// checked.
#pragma once

#include <string>
#include <vector>

#include "kernels/core/kernel.h"
#include "tests/support/op_library.h"

namespace troupe::test {

/// What the graph knows of the inputs of the node: shape functions must agree with the kernel in each case.
enum class Known { Values, Shapes, Nothing };

/// One op on sources of its inputs, as a graph. References are variables of the shape of the tensor given. The node is called
/// "node", for random ops go by the name.
struct SingleOp {
  static Result<SingleOp> make(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs,
                               Known known);
  const Node& node() const { return graph.node(id); }
  /// How many tensors its kernel makes: the new value of each variable, whatever the op itself yields.
  size_t results() const;

  Graph graph;
  NodeId id = 0;
  std::vector<Output> sources;
};

/// The outputs of `op`, or why the graph (shape function, attributes) or the kernel refused. The
/// outputs of an op that writes variables are their new values. Checks that the inferred shapes describe the outputs.
Result<std::vector<Tensor>> run_op(const std::string& op, const std::vector<Tensor>& inputs,
                                   Attributes attrs = {}, Known known = Known::Values,
                                   const StepInfo& step = {}, size_t threads = 1);

/// Checks the outputs bit by bit, whatever is known of the inputs.
void check_op(const std::string& op, const std::vector<Tensor>& inputs, const Attributes& attrs,
              const std::vector<Tensor>& expected);
/// Checks that it fails, whatever is known of the inputs, as InvalidArgument with `text` in its message.
void check_refused(const std::string& op, const std::vector<Tensor>& inputs, const Attributes& attrs,
                   const std::string& text);

/// "float[2] 1 2": for messages.
std::string text_of(const Tensor& tensor);

/// Where a file of the project is, given by its path there.
std::string project_path(const std::string& path);
/// Its text; empty when there is none.
std::string project_file(const std::string& path);

/// Brief tensors.
Tensor floats(const Shape& shape, std::initializer_list<float> values);
Tensor ints(std::initializer_list<int32_t> values);
Tensor ints(const Shape& shape, std::initializer_list<int32_t> values);
Tensor int_scalar(int32_t value);
Tensor strings(std::initializer_list<std::string> values);
/// 0, 1, 2, ... of this shape.
Tensor counting(const Shape& shape);

}  // namespace troupe::test

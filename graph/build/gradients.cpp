#include "graph/build/gradients.h"

#include "graph/build/backpropagation.h"
#include "graph/build/gradients_beside.h"

namespace troupe {
namespace {

Output first_dim(const Scope& scope, Output dense_shape, Output x) {
  const PartialShape& shape = scope.shape(x);
  if (shape.known_rank() && shape.rank() > 0 && shape[0] != unknown_dim)
    return scope.constant(Tensor::scalar<int32_t>(static_cast<int32_t>(shape[0])));
  const Output first = scope.add_one("Slice", {dense_shape, scope.constant(Tensor::vector<int32_t>({0})),
                                               scope.constant(Tensor::vector<int32_t>({1}))});
  return scope.add_one("Reshape", {first, scope.constant(Tensor::vector<int32_t>({}))});
}

}  // namespace

GradientContext::GradientContext(Scope scope, NodeId node, NodeId outputs,
                                 std::vector<Gradient> output_gradients)
    : scope_(std::move(scope)), node_(node), outputs_(outputs),
      output_gradients_(std::move(output_gradients)), input_gradients_(this->node().inputs.size()) {}

bool GradientContext::has_gradient(size_t output) const { return present(output_gradients_[output]); }

Output GradientContext::gradient(size_t index) const {
  if (!has_gradient(index)) return scope_.add_one("ZerosLike", {output(index)});
  return dense(scope_, output_gradients_[index], output(index));
}

Gradient& GradientContext::gradient_of_input(size_t input) {
  if (input >= input_gradients_.size())
    throw Error(internal("the gradient function sets the gradient of input " + std::to_string(input) +
                         ", but the number of inputs is " + std::to_string(input_gradients_.size()))
                    .at_node(node().type(), node().name));
  return input_gradients_[input];
}

void GradientContext::set(size_t input, Output gradient) { gradient_of_input(input) = gradient; }
void GradientContext::set(size_t input, const IndexedSlices& gradient) {
  gradient_of_input(input) = gradient;
}
std::vector<Gradient> GradientContext::take() && { return std::move(input_gradients_); }

namespace {

/// Throws InvalidArgument unless `grad_ys` is empty or has a gradient, or nothing, for each y.
void check_grad_ys(const Scope& scope, const std::vector<Output>& ys, const std::vector<Gradient>& grad_ys) {
  if (!grad_ys.empty() && grad_ys.size() != ys.size())
    throw Error(invalid_argument("the number of grad_ys is " + std::to_string(grad_ys.size()) +
                                 ", but that of ys is " + std::to_string(ys.size())));
  for (size_t i = 0; i < grad_ys.size(); ++i) {
    const auto dtype = dtype_of_gradient(scope, grad_ys[i]);
    if (dtype && *dtype != scope.dtype(ys[i]))
      throw Error(invalid_argument("grad_ys[" + std::to_string(i) + "] is " + std::string(name(*dtype)) +
                                   ", but " + scope.graph().name_of(ys[i]) + " is " +
                                   std::string(name(scope.dtype(ys[i])))));
  }
}

std::vector<Gradient> backpropagate(const Scope& scope, const std::vector<Output>& ys,
                                    const std::vector<Output>& xs, const std::vector<Gradient>& grad_ys,
                                    GradientDevices devices) {
  Graph& graph = scope.graph();
  for (const Output& y : ys)
    if (!is_differentiable(scope.dtype(y))) {
      const Node& node = graph.node(y.node);
      throw Error(invalid_argument(
                      graph.name_of(y) + " has dtype " + std::string(name(graph.dtype(y))) +
                      ", which has no gradient; half, bfloat16, float, double and complex types have one")
                      .at_node(node.type(), node.name));
    }
  for (const Output& x : xs) scope.checked(x);
  check_grad_ys(scope, ys, grad_ys);
  const Scope inner = scope.with_prefix("gradients");
  Loops loops(graph, ys);
  Backpropagation backward(inner, loops, graph.size(), ys, xs, devices);
  for (size_t i = 0; i < ys.size(); ++i) {
    const bool given = i < grad_ys.size() && present(grad_ys[i]);
    backward.seed(ys[i],
                  given ? grad_ys[i] : Gradient(backward.scope_for(ys[i].node).add_one("OnesLike", {ys[i]})));
  }
  backward.run();
  std::vector<Gradient> result;
  for (const Output& x : xs) result.push_back(backward.of(x));
  return result;
}

}  // namespace

std::optional<DType> dtype_of_gradient(const Scope& scope, const Gradient& gradient) {
  if (const auto* output = std::get_if<Output>(&gradient)) return scope.dtype(*output);
  if (const auto* slices = std::get_if<IndexedSlices>(&gradient)) return scope.dtype(slices->values);
  return {};
}

std::vector<Gradient> gradients(const Scope& scope, const std::vector<Output>& ys,
                                const std::vector<Output>& xs, const std::vector<Gradient>& grad_ys) {
  return backpropagate(scope, ys, xs, grad_ys, GradientDevices::OfScope);
}

std::vector<Gradient> gradients_beside(const Scope& scope, const std::vector<Output>& ys,
                                       const std::vector<Output>& xs) {
  return backpropagate(scope, ys, xs, {}, GradientDevices::OfNodes);
}

Output dense(const Scope& scope, const Gradient& gradient, Output x) {
  if (const auto* output = std::get_if<Output>(&gradient)) return scope.checked(*output);
  if (const auto* slices = std::get_if<IndexedSlices>(&gradient)) {
    const Output rows = first_dim(scope, slices->dense_shape, x);
    return scope.add_one("UnsortedSegmentSum", {slices->values, slices->indices, rows});
  }
  return scope.add_one("ZerosLike", {x});
}

}  // namespace troupe

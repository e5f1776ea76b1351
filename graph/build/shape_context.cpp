#include "graph/build/shape_context.h"

#include "graph/build/partial_values.h"
#include "graph/build/signature.h"

namespace troupe {

std::optional<std::vector<int64_t>> ShapeContext::constant_integers(size_t i) const {
  const Tensor* value = constant(i);
  if (!value) return std::nullopt;
  if (value->dtype() == DType::Int64)
    return std::vector<int64_t>(value->as<int64_t>().begin(), value->as<int64_t>().end());
  if (value->dtype() != DType::Int32) return std::nullopt;
  return std::vector<int64_t>(value->as<int32_t>().begin(), value->as<int32_t>().end());
}

std::optional<std::vector<int64_t>> ShapeContext::partial_integers(size_t i) const {
  return troupe::partial_integers(graph_, node_.inputs[i]);
}

Result<PartialShape> ShapeContext::with_rank(size_t i, size_t rank) const {
  const PartialShape& shape = input(i);
  if (!shape.known_rank()) return PartialShape::of_rank(rank);
  if (shape.rank() == rank) return shape;
  return invalid_argument(argument_name(node_, i) + " of shape " + shape.text() + " has rank " +
                          std::to_string(shape.rank()) + ", expected " + std::to_string(rank));
}

void ShapeContext::set_output(size_t i, PartialShape shape) {
  const size_t outputs = node_.output_types.size();
  if (i >= outputs) {
    status_ = internal("the shape function sets output " + std::to_string(i) +
                       ", but the number of outputs is " + std::to_string(outputs));
    return;
  }
  outputs_.resize(outputs);
  outputs_[i] = std::move(shape);
}

std::vector<PartialShape> ShapeContext::take_outputs() && {
  outputs_.resize(node_.output_types.size());
  return std::move(outputs_);
}

Status unchanged_shape(ShapeContext& context) {
  for (size_t i = 0; i < context.node().output_types.size(); ++i) context.set_output(i, context.input(0));
  return {};
}

Status scalar_shape(ShapeContext& context) {
  for (size_t i = 0; i < context.node().output_types.size(); ++i)
    context.set_output(i, PartialShape::scalar());
  return {};
}

Status unknown_shape(ShapeContext&) { return {}; }

Status broadcast_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, broadcast(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

Status no_output_shape(ShapeContext&) { return {}; }

}  // namespace troupe

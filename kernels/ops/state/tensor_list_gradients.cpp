#include "kernels/ops/state/tensor_list_gradients.h"

#include "kernels/core/arguments.h"

namespace troupe {
namespace {

DType element_dtype(const GradientContext& context) { return context.attr<DType>("element_dtype"); }

bool has_no_gradient(const GradientContext& context) {
  const DType dtype = element_dtype(context);
  return !is_differentiable(dtype) && dtype != DType::Variant;
}

/// Returns the attribute element_dtype, for another op on the same list.
Attributes of_elements(const GradientContext& context) { return {{"element_dtype", element_dtype(context)}}; }

Output unknown_shape_of_elements(const Scope& scope) { return integer_constant(scope, -1); }

/// Returns the element_shape that an op on the gradient takes for elements like `x`. The elements of a list of lists are scalars.
Output element_shape_like(const Scope& scope, Output x) {
  return scope.dtype(x) == DType::Variant ? unknown_shape_of_elements(scope) : shape_of(scope, x);
}

Output length_of(const Scope& scope, Output list) { return scope.add_one("TensorListLength", {list}); }

}  // namespace

void list_push_back_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  const NodeId popped =
      scope.add("TensorListPopBack", {context.gradient(), element_shape_like(scope, context.input(1))},
                of_elements(context));
  context.set(0, Output{popped, 0});
  context.set(1, Output{popped, 1});
}

void list_pop_back_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  context.set(0, context.scope().add_one("TensorListPushBack", {context.gradient(0), context.gradient(1)}));
}

void list_set_item_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  const Output index = context.input(1), item = context.input(2), gradient = context.gradient();
  context.set(2, scope.add_one("TensorListGetItem", {gradient, index, element_shape_like(scope, item)},
                               of_elements(context)));
  const Output rest =
      scope.add_one("TensorListSetItem", {gradient, index, scope.add_one("ZerosLike", {item})});
  context.set(0, scope.add_one("TensorListResize", {rest, length_of(scope, context.input(0))}));
}

void list_get_item_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  const Output none = scope.add_one("TensorListReserve",
                                    {unknown_shape_of_elements(scope), length_of(scope, context.input(0))},
                                    of_elements(context));
  context.set(0, scope.add_one("TensorListSetItem", {none, context.input(1), context.gradient()}));
}

void list_stack_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  context.set(0,
              scope.add_one("TensorListFromTensor", {context.gradient(), unknown_shape_of_elements(scope)}));
}

void list_from_tensor_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  const Output tensor = context.input(0);
  const Output shape =
      scope.add_one("Slice", {shape_of(scope, tensor), integer_constants(scope, std::vector<int64_t>{1}),
                              integer_constants(scope, std::vector<int64_t>{-1})});
  context.set(0, scope.add_one("TensorListStack", {context.gradient(), shape}, of_elements(context)));
}

/// Elements that were removed have no gradient; those that were added are dropped.
void list_resize_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, scope.add_one("TensorListResize", {context.gradient(), length_of(scope, context.input(0))}));
}

}  // namespace troupe

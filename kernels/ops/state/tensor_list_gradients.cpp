#include "kernels/ops/state/tensor_list_gradients.h"

#include "kernels/core/arguments.h"

namespace troupe {
namespace {

DType gradient_dtype(const GradientContext& context) { return context.attr<DType>("element_dtype"); }

bool has_no_gradient(const GradientContext& context) {
  const DType dtype = gradient_dtype(context);
  return !is_differentiable(dtype) && dtype != DType::Variant;
}

/// Returns the attribute element_dtype, for another op on the same list.
Attributes of_elements(const GradientContext& context) {
  return {{"element_dtype", gradient_dtype(context)}};
}

Output unknown_shape_of_elements(const Scope& scope) { return integer_constant(scope, -1); }

/// Returns the element_shape that an op on the gradient takes for elements like `x`. The elements of a list of lists are scalars.
Output element_shape_like(const Scope& scope, Output x) {
  return scope.dtype(x) == DType::Variant ? unknown_shape_of_elements(scope) : shape_of(scope, x);
}

Output length_of(const Scope& scope, Output list) { return scope.add_one("TensorListLength", {list}); }

/// Returns the shape of a row of x, as an argument element_shape.
Output shape_of_rows(const Scope& scope, Output x) {
  const std::vector<int64_t> begin = {1}, size = {-1};
  return scope.add_one("Slice",
                       {shape_of(scope, x), integer_constants(scope, begin), integer_constants(scope, size)});
}

/// Sets the gradient of input `tensor` of an op that scatters its rows to the indices, the input after it.
void set_rows_gradient(GradientContext& context, size_t tensor) {
  const Scope& scope = context.scope();
  context.set(tensor, scope.add_one("TensorListGather",
                                    {context.gradient(), context.input(tensor + 1),
                                     shape_of_rows(scope, context.input(tensor))},
                                    of_elements(context)));
}

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
  const Output shape = shape_of_rows(scope, context.input(0));
  context.set(0, scope.add_one("TensorListStack", {context.gradient(), shape}, of_elements(context)));
}

/// Elements that were removed have no gradient; those that were added are dropped.
void list_resize_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, scope.add_one("TensorListResize", {context.gradient(), length_of(scope, context.input(0))}));
}

void list_gather_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  const Output size = length_of(scope, context.input(0));
  context.set(0, scope.add_one("TensorListScatterV2",
                               {context.gradient(), context.input(1), integer_constant(scope, -1), size}));
}

void list_scatter_gradient(GradientContext& context) {
  if (!has_no_gradient(context)) set_rows_gradient(context, 0);
}

void list_scatter_into_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  set_rows_gradient(context, 1);
  const Scope& scope = context.scope();
  const Output zeros = scope.add_one("ZerosLike", {context.input(1)});
  const Output rest =
      scope.add_one("TensorListScatterIntoExistingList", {context.gradient(), zeros, context.input(2)});
  const Output size = length_of(scope, context.input(0));
  context.set(0, scope.add_one("TensorListResize", {rest, size}));
}

void list_concat_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  context.set(0, scope.add_one("TensorListSplit",
                               {context.gradient(), integer_constant(scope, -1), context.output(1)}));
}

void list_split_gradient(GradientContext& context) {
  if (has_no_gradient(context)) return;
  const Scope& scope = context.scope();
  const std::vector<int64_t> any = {-1};
  const Output shape = scope.add_one(
      "ConcatV2",
      {integer_constants(scope, any), shape_of_rows(scope, context.input(0)), integer_constant(scope, 0)});
  context.set(0, scope.add_one("TensorListConcatV2", {context.gradient(), shape, context.input(2)},
                               of_elements(context)));
}

}  // namespace troupe

// Gradients of the ops on lists of tensors: the gradient of a list is a list of the gradients of its elements. Lists whose elements
// have no gradient, such as integers, have none either. Functions without state.
#pragma once

#include "graph/build/gradients.h"

namespace troupe {

void list_push_back_gradient(GradientContext& context);
void list_pop_back_gradient(GradientContext& context);
void list_set_item_gradient(GradientContext& context);
void list_get_item_gradient(GradientContext& context);
void list_stack_gradient(GradientContext& context);
void list_from_tensor_gradient(GradientContext& context);
void list_resize_gradient(GradientContext& context);
void list_gather_gradient(GradientContext& context);
void list_scatter_gradient(GradientContext& context);
void list_scatter_into_gradient(GradientContext& context);
void list_concat_gradient(GradientContext& context);
void list_split_gradient(GradientContext& context);

}  // namespace troupe

#include "kernels/ops/state/new_value.h"

#include "graph/build/signature.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {

void NewValue::bring_over(Pool& pool) const {
  if (after->data() == old) return;
  const Dims dims(1, after->elements());
  strided_copy(pool, dims, source, {0, strides_of(dims)}, *after, {0, strides_of(dims)});
}

Result<NewValue> new_value(KernelContext& context, size_t i) {
  NewValue value;
  const Shape shape = context.input(i).shape();
  value.old = context.input(i).data();
  TROUPE_ASSIGN(value.after, context.forward(i, i, shape));
  if (value.after->data() != value.old) value.source = context.input(i);
  return value;
}

Status require_same_shape(const KernelContext& context, size_t a, size_t b) {
  if (context.input(a).shape() == context.input(b).shape()) return {};
  return invalid_argument(argument_name(context.node(), a) + " has shape " + context.input(a).shape().text() +
                          " and " + argument_name(context.node(), b) + " has shape " +
                          context.input(b).shape().text() + "; they must have the same shape");
}

OpDefBuilder write_op(std::string name, ShapeFunction shape) {
  return OpDefBuilder(std::move(name))
      .served_by(variable_service)
      .effect(Effect::State)
      .shape(shape)
      .not_differentiable();
}

}  // namespace troupe

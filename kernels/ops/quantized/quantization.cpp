#include "kernels/ops/quantized/quantization.h"

#include "graph/build/signature.h"

namespace troupe {

Status check_range_shapes(const KernelContext& context, size_t first) {
  for (const size_t i : {first, first + 1})
    if (context.input(i).elements() != 1)
      return invalid_argument(argument_name(context.node(), i) + " has shape " +
                              context.input(i).shape().text() + "; it must have one element");
  return {};
}

Status check_order(FloatRange range, const std::string& name) {
  if (range.min < range.max) return {};
  return invalid_argument("max_" + name + " is " + std::to_string(range.max) +
                          "; it must be greater than min_" + name + ", which is " +
                          std::to_string(range.min));
}

Result<RangeOutput> range_output(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const min, context.output(1, Shape()));
  TROUPE_ASSIGN(Tensor* const max, context.output(2, Shape()));
  return RangeOutput{*min, *max};
}

Status quantized_shape(ShapeContext& context, PartialShape shape, size_t first_range) {
  for (size_t i = first_range; i < context.inputs(); ++i) {
    const PartialShape& range = context.input(i);
    if (range.fully_known() && range.known_rank())
      for (const int64_t dim : range.dims())
        if (dim != 1)
          return invalid_argument("input " + std::to_string(i) + " has shape " + range.text() +
                                  "; it must have one element");
  }
  context.set_output(0, std::move(shape));
  for (const size_t i : {1, 2}) context.set_output(i, PartialShape::scalar());
  return {};
}

}  // namespace troupe

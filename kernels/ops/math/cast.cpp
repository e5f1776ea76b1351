// Cast(x): x converted to dtype DstT, for every pair of number types, quantised types and bool. cast_loop says how each pair
// converts, truncating_cast_loop how it does with attribute Truncate (kernels/loops/cast.h).
#include "kernels/ops/math/cast.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/cast.h"
#include "kernels/ops/quantized/quantization.h"

namespace troupe {
namespace {

using CastTypes = Joined<PlainTypes, QuantizedTypes>;

void compute_cast(const CastArguments& arguments, DeviceContext& device) {
  const auto& [x, y, truncate] = arguments;
  if (y) convert(device.pool(), x, *y, truncate ? truncating_cast_loop(x.dtype(), y->dtype()) : nullptr);
}

/// The gradient flows back between types that carry gradients.
void cast_gradient(GradientContext& context) {
  const auto from = context.attr<DType>("SrcT");
  if (is_differentiable(from) && is_differentiable(context.attr<DType>("DstT")))
    context.set(0, context.scope().add_one("Cast", {context.gradient()}, {{"DstT", from}}));
}

}  // namespace

Result<CastArguments> CastCheck::operator()(KernelContext& context) const {
  const Tensor& x = context.input(0);
  if (x.dtype() == context.node().output_types[0].dtype) {
    context.set_output(0, x);
    return CastArguments{x, nullptr, truncate_};
  }
  TROUPE_ASSIGN(Tensor* const y, context.output(0, x.shape()));
  return CastArguments{x, y, truncate_};
}

void add_cast(OpLibrary& library) {
  library.op(OpDefBuilder("Cast")
                 .input("x: SrcT")
                 .output("y: DstT")
                 .attr("SrcT: type")
                 .attr("DstT: type")
                 .attr("Truncate: bool = false")
                 .constructor("cast(x, dtype: DstT)")
                 .shape(unchanged_shape)
                 .gradient(cast_gradient));
  library.kernel(cpu_kernel<CastCheck>("Cast", compute_cast)
                     .on("SrcT", dtypes(CastTypes{}))
                     .on("DstT", dtypes(CastTypes{}))
                     .inexpensive());
}

}  // namespace troupe

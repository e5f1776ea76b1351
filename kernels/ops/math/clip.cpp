// ClipByValue(t, clip_value_min, clip_value_max): max(min(t, clip_value_max), clip_value_min), element by element. A limit is
// a scalar or has the shape of t. NaN stays NaN; a limit that is NaN sets no limit. Any real number; half and bfloat16 are
// compared as they are. The gradient goes to t inside of the limits, to clip_value_min below it, to clip_value_max above it,
// and to both limits where t is below the one and above the other, as in TensorFlow.
#include "kernels/ops/math/clip.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

Status check_limit(const PartialShape& t, const PartialShape& limit, std::string_view name) {
  if (limit.has_rank(0) || t.compatible_with(limit)) return {};
  return invalid_argument(std::string(name) + " of shape " + limit.text() +
                          " must be a scalar or have the shape of t, " + t.text());
}

Status check_limits(const PartialShape& t, const PartialShape& low, const PartialShape& high) {
  TROUPE_RETURN_IF_FAILED(check_limit(t, low, "clip_value_min"));
  return check_limit(t, high, "clip_value_max");
}

Status clip_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_limits(context.input(0), context.input(1), context.input(2)));
  return unchanged_shape(context);
}

template <class T>
void clip(const ClipArguments& arguments, Pool& pool) {
  using C = ComputeType<T>;
  const auto low = arguments.low.as<T>(), high = arguments.high.as<T>();
  const size_t low_step = arguments.low.shape().is_scalar() ? 0 : 1,
               high_step = arguments.high.shape().is_scalar() ? 0 : 1;
  const auto from = arguments.t.as<T>();
  const auto to = arguments.output.write<T>();
  parallel_items(pool, to.size(), 4 * sizeof(T), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      to[i] = T(std::max(std::min(static_cast<C>(from[i]), static_cast<C>(high[i * high_step])),
                         static_cast<C>(low[i * low_step])));
  });
}

void compute_clip(const ClipArguments& arguments, DeviceContext& device) {
  with_type(RealTypes{}, arguments.output.dtype(),
            [&]<class T>(std::type_identity<T>) { clip<T>(arguments, device.pool()); });
}

void clip_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output t = context.input(0), low = context.input(1), high = context.input(2),
               gradient = context.gradient();
  const Output zeros = zeros_like(scope, gradient), below = less(scope, t, low),
               above = greater(scope, t, high);
  const auto set = [&](size_t i, Output given) {
    context.set(i, summed_to_shape_of(scope, given, context.input(i)));
  };
  context.set(0, where(scope, logical_or(scope, below, above), zeros, gradient));
  set(1, where(scope, below, gradient, zeros));
  set(2, where(scope, above, gradient, zeros));
}

}  // namespace

Result<ClipArguments> check_clip(KernelContext& context) {
  const Tensor &t = context.input(0), &low = context.input(1), &high = context.input(2);
  TROUPE_RETURN_IF_FAILED(check_limits(t.shape(), low.shape(), high.shape()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, t.shape()));
  return ClipArguments{t, low, high, *output};
}

void add_clip_by_value(OpLibrary& library) {
  library.op(OpDefBuilder("ClipByValue")
                 .input("t: T")
                 .input("clip_value_min: T")
                 .input("clip_value_max: T")
                 .output("output: T")
                 .attr("T: numbertype")
                 .constructor("clip_by_value(t, clip_value_min, clip_value_max)")
                 .shape(clip_shape)
                 .gradient(clip_gradient));
  library.kernel(cpu_kernel("ClipByValue", check_clip, compute_clip).on("T", dtypes(RealTypes{})));
}

}  // namespace troupe

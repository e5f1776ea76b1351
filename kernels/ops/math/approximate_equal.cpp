// ApproximateEqual(x, y): whether |x - y| < tolerance, element by element. Half and bfloat16 are compared in float. Fails with
// InvalidArgument unless the shapes are equal. Not differentiable.
#include "kernels/ops/math/approximate_equal.h"

#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

Status approximate_equal_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, merge(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

void compute_approximate_equal(const ApproximateEqualArguments& arguments, DeviceContext& device) {
  with_type(NumberTypes{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) {
    using C = ComputeType<T>;
    const auto x = arguments.x.as<T>(), y = arguments.y.as<T>();
    const auto z = arguments.z.write<bool>();
    parallel_items(device.pool(), z.size(), 3 * sizeof(T), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        z[i] = is_near(static_cast<C>(x[i]), static_cast<C>(y[i]), arguments.tolerance);
    });
  });
}

}  // namespace

Result<ApproximateEqualArguments> check_approximate_equal(KernelContext& context) {
  const Tensor &x = context.input(0), &y = context.input(1);
  if (!(x.shape() == y.shape()))
    return invalid_argument("x has shape " + x.shape().text() + " and y has shape " + y.shape().text() +
                            "; they must have the same shape");
  TROUPE_ASSIGN(Tensor* const z, context.output(0, x.shape()));
  return ApproximateEqualArguments{x, y, *z, context.node().attrs.get<float>("tolerance")};
}

void add_approximate_equal(OpLibrary& library) {
  library.op(OpDefBuilder("ApproximateEqual")
                 .input("x: T")
                 .input("y: T")
                 .output("z: bool")
                 .attr("T: numbertype")
                 .attr("tolerance: float = 0.00001")
                 .constructor("approximate_equal(x, y, tolerance)")
                 .commutative()
                 .shape(approximate_equal_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("ApproximateEqual", check_approximate_equal, compute_approximate_equal)
                     .on("T", dtypes(NumberTypes{})));
}

}  // namespace troupe

// Cross(a, b): the cross products of vectors. The last dimension of a and b, which have one shape, holds the 3 elements of each.
// Real; integers wrap around, half and bfloat16 are computed in float.
#include "kernels/ops/math/cross.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"

namespace troupe {
namespace {

Status check_vectors(const PartialShape& shape) {
  if (!shape.known_rank()) return {};
  if (shape.rank() == 0 || (shape.dims().back() != 3 && shape.dims().back() != unknown_dim))
    return invalid_argument("shape " + shape.text() + " holds no vectors of 3 elements");
  return {};
}

Status cross_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, merge(context.input(0), context.input(1)));
  TROUPE_RETURN_IF_FAILED(check_vectors(shape));
  context.set_output(0, std::move(shape));
  return {};
}

template <class T>
void cross_vector(const T* a, const T* b, T* product) {
  using C = ComputeType<T>;
  const auto element = [&](size_t i, size_t j) {
    return T(Sub::apply(Mul::apply(static_cast<C>(a[i]), static_cast<C>(b[j])),
                        Mul::apply(static_cast<C>(a[j]), static_cast<C>(b[i]))));
  };
  product[0] = element(1, 2);
  product[1] = element(2, 0);
  product[2] = element(0, 1);
}

void compute_cross(const CrossArguments& arguments, DeviceContext& device) {
  with_type(RealTypes{}, arguments.a.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto a = arguments.a.as<T>(), b = arguments.b.as<T>();
    const auto product = arguments.product.write<T>();
    parallel_items(device.pool(), product.size() / 3, 9 * sizeof(T), [&](size_t begin, size_t end) {
      for (size_t i = 3 * begin; i < 3 * end; i += 3)
        cross_vector(a.data() + i, b.data() + i, product.data() + i);
    });
  });
}

void cross_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, scope.add_one("Cross", {context.input(1), context.gradient()}));
  context.set(1, scope.add_one("Cross", {context.gradient(), context.input(0)}));
}

}  // namespace

Result<CrossArguments> check_cross(KernelContext& context) {
  const Tensor &a = context.input(0), &b = context.input(1);
  if (a.shape() != b.shape()) return invalid_argument("a is " + a.signature() + ", b is " + b.signature());
  TROUPE_RETURN_IF_FAILED(check_vectors(a.shape()));
  TROUPE_ASSIGN(Tensor* const product, context.output(0, a.shape()));
  return CrossArguments{a, b, *product};
}

void add_cross(OpLibrary& library) {
  library.op(OpDefBuilder("Cross")
                 .input("a: T")
                 .input("b: T")
                 .output("product: T")
                 .attr("T: realnumbertype")
                 .constructor("cross(a, b)")
                 .shape(cross_shape)
                 .gradient(cross_gradient));
  library.kernel(cpu_kernel("Cross", check_cross, compute_cross));
}

}  // namespace troupe

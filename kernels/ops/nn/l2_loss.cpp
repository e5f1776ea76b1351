// L2Loss(t): half the sum of the squares of all elements, a scalar. The squares are added pairwise; half and bfloat16 are
// computed in float.
#include "kernels/ops/nn/l2_loss.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/vector_loops.h"

namespace troupe {
namespace {

constexpr size_t block_elements = 65536;

template <class T>
Result<T> half_sum_of_squares(DeviceContext& device, const Tensor& t) {
  const auto n = static_cast<size_t>(t.elements()), blocks = (n + block_elements - 1) / block_elements;
  const ReduceLoop squares = vector_loop(VectorReduction::SumOfSquares, dtype_of<T>);
  const T* const x = t.as<T>().data();
  T total = 0;
  if (blocks <= 1) {
    squares(x, n, 1, &total);
    return total / 2;
  }
  TROUPE_ASSIGN(Tensor partial,
                Tensor::allocate(dtype_of<T>, Shape::vector(static_cast<int64_t>(blocks)), device.memory()));
  T* const sums = partial.write<T>().data();
  device.pool().blocks(n, block_elements, [&](size_t begin, size_t end) {
    squares(x + begin, end - begin, 1, sums + begin / block_elements);
  });
  vector_loop(VectorReduction::Sum, dtype_of<T>)(sums, blocks, 1, &total);
  return total / 2;
}

Status compute_l2_loss(const L2LossArguments& arguments, DeviceContext& device) {
  const auto& [t, loss] = arguments;
  if (t.dtype() == DType::Double) {
    TROUPE_ASSIGN(loss.write<double>()[0], half_sum_of_squares<double>(device, t));
    return {};
  }
  TROUPE_ASSIGN(const Tensor wide, converted(device, t, DType::Float));
  TROUPE_ASSIGN(const float half_sum, half_sum_of_squares<float>(device, wide));
  cast_loop(DType::Float, loss.dtype())(&half_sum, loss.mutable_data(), 1);
  return {};
}

void l2_loss_gradient(GradientContext& context) {
  context.set(0, mul(context.scope(), context.gradient(), context.input(0)));
}

}  // namespace

Result<L2LossArguments> check_l2_loss(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const loss, context.output(0, Shape()));
  return L2LossArguments{context.input(0), *loss};
}

void add_l2_loss(OpLibrary& library) {
  library.op(OpDefBuilder("L2Loss")
                 .input("t: T")
                 .output("output: T")
                 .attr("T: floattype")
                 .constructor("l2_loss(t)")
                 .shape(scalar_shape)
                 .gradient(l2_loss_gradient));
  library.kernel(cpu_kernel("L2Loss", check_l2_loss, compute_l2_loss).inexpensive());
}

}  // namespace troupe

// Tensors of the shape and type of another.
//   ZerosLike(x)   zeros: 0, false, the empty string
//   OnesLike(x)    ones, of a number or true
// Gradient: zero, whatever x is.
#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/all_ops.h"

namespace troupe {
namespace {

Status run_zeros_like(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  if (output->dtype() == DType::String) return {};
  parallel_items(context.device().pool(), output->bytes(), 1, [&](size_t begin, size_t end) {
    std::memset(output->mutable_data() + begin, 0, end - begin);
  });
  return {};
}

template <class T>
T one() {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(1.0f);
  else
    return T(1);
}

Status run_ones_like(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  with_type(PlainTypes{}, output->dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = output->write<T>();
    parallel_items(context.device().pool(), values.size(), sizeof(T), [&](size_t begin, size_t end) {
      std::fill(values.begin() + begin, values.begin() + end, one<T>());
    });
  });
  return {};
}

void zero_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("ZerosLike", {context.input(0)}));
}

}  // namespace

void add_like_ops(OpLibrary& library) {
  library.op(OpDefBuilder("ZerosLike")
                 .input("x: T")
                 .output("y: T")
                 .attr("T: type")
                 .constructor("zeros_like(x)")
                 .shape(unchanged_shape)
                 .gradient(zero_gradient));
  library.op(OpDefBuilder("OnesLike")
                 .input("x: T")
                 .output("y: T")
                 .attr("T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
                       "uint64, complex64, "
                       "complex128, bool}")
                 .constructor("ones_like(x)")
                 .shape(unchanged_shape)
                 .gradient(zero_gradient));
  library.kernel(cpu_kernel("ZerosLike", run_zeros_like).inexpensive());
  library.kernel(cpu_kernel("OnesLike", run_ones_like).inexpensive());
}

}  // namespace troupe

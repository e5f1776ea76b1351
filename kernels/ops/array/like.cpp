// Tensors with the shape and type of another.
//   ZerosLike(x)   zeros: 0, false, the empty string
//   OnesLike(x)    ones: 1 or true
// The gradient is zero, whatever x is.
#include "kernels/ops/array/like.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

template <class T>
T one() {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(1.0f);
  else
    return T(1);
}

void compute_zeros_like(const LikeArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  if (output.dtype() == DType::String) return;
  parallel_items(device.pool(), output.bytes(), 1, [&](size_t begin, size_t end) {
    std::memset(output.mutable_data() + begin, 0, end - begin);
  });
}

void compute_ones_like(const LikeArguments& arguments, DeviceContext& device) {
  with_type(PlainTypes{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = arguments.output.write<T>();
    parallel_items(device.pool(), values.size(), sizeof(T), [&](size_t begin, size_t end) {
      std::fill(values.begin() + begin, values.begin() + end, one<T>());
    });
  });
}

}  // namespace

Result<LikeArguments> check_like(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  return LikeArguments{*output};
}

void add_like_ops(OpLibrary& library) {
  library.op(OpDefBuilder("ZerosLike")
                 .input("x: T")
                 .output("y: T")
                 .attr("T: type")
                 .constructor("zeros_like(x)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("OnesLike")
                 .input("x: T")
                 .output("y: T")
                 .attr("T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
                       "uint64, complex64, "
                       "complex128, bool}")
                 .constructor("ones_like(x)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("ZerosLike", check_like, compute_zeros_like).inexpensive());
  library.kernel(cpu_kernel("OnesLike", check_like, compute_ones_like).inexpensive());
}

}  // namespace troupe

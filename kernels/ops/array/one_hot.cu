// OneHot on GPUs: see one_hot.cpp.
#include "kernels/ops/array/one_hot.h"

#include "kernels/gpu/divider.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

template <class T>
struct OneHot {
  gpu::Indices indices;
  const T *on, *off;
  T* output;
  gpu::Divider inner, depth;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t line = inner.quotient(i), column = i - line * inner.divisor();
    const size_t outer = depth.quotient(line), position = line - outer * depth.divisor();
    const bool hot = indices(outer * inner.divisor() + column) == static_cast<int64_t>(position);
    output[i] = hot ? *on : *off;
  }
};

Status compute_one_hot(const OneHotArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  if (output.elements() == 0) return {};
  return gpu::with_stored(output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, static_cast<size_t>(output.elements()),
                     OneHot<T>{gpu::Indices(arguments.indices), gpu::stored<T>(arguments.on_value),
                               gpu::stored<T>(arguments.off_value), gpu::stored<T>(output),
                               gpu::Divider(arguments.inner), gpu::Divider(arguments.depth)});
  });
}

}  // namespace

void add_one_hot_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("OneHot", check_one_hot, compute_one_hot)
                     .on("T", dtypes(gpu::MovedTypesAndIntegers{}))
                     .on("TI", {DType::Int32, DType::Int64}));
}

}  // namespace troupe

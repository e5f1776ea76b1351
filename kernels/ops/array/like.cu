// ZerosLike and OnesLike on GPUs: see like.cpp.
#include "kernels/ops/array/like.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

Status compute_zeros_like(const LikeArguments& arguments, DeviceContext& device) {
  return gpu::fill_with(device, nullptr, arguments.output);
}

Status compute_ones_like(const LikeArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  return gpu::for_type(gpu::MovedTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    T one;
    gpu::store(one, gpu::Wide<T>(1));
    const Tensor value = Tensor::scalar(one);
    return gpu::fill_with(device, &value, output);
  });
}

}  // namespace

void add_like_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypes{});
  library.kernel(gpu_kernel("OnesLike", check_like, compute_ones_like).on("T", types));
  library.kernel(gpu_kernel("ZerosLike", check_like, compute_zeros_like).on("T", types));
}

}  // namespace troupe

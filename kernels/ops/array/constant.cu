// Fill and Empty on GPUs: see constant.cpp.
#include "kernels/ops/array/constant.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

Status compute_fill(const FillArguments& arguments, DeviceContext& device) {
  return gpu::fill_from(device, arguments.value, arguments.output);
}

Status compute_empty(const EmptyArguments& arguments, DeviceContext& device) {
  return gpu::fill_with(device, nullptr, arguments.output);
}

}  // namespace

void add_constant_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypes{});
  library.kernel(gpu_kernel("Empty", check_empty, compute_empty).on("dtype", types));
  library.kernel(gpu_kernel("Fill", check_fill, compute_fill).on("T", types));
}

}  // namespace troupe

// EuclideanNorm on GPUs: see euclidean_norm.cpp.
#include "kernels/ops/math/euclidean_norm.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/reduce_axes.h"

namespace troupe {
namespace {

Status compute_norm(const EuclideanNormArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    const gpu::QuotientSink<T> roots{arguments.output.write<T>().data(), 1, true};
    return gpu::reduce_axes<gpu::Plus<gpu::Wide<T>>>(
        device, arguments.input.shape().dims(), arguments.reduced,
        gpu::TensorSource<T>{arguments.input.as<T>().data(), true}, roots);
  });
}

}  // namespace

void add_euclidean_norm_on_gpu(OpLibrary& library) {
  library.kernel(
      gpu_kernel("EuclideanNorm", check_euclidean_norm, compute_norm).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe

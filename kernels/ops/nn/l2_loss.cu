// L2Loss on GPUs: see l2_loss.cpp.
#include "kernels/ops/nn/l2_loss.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/reduce_axes.h"

namespace troupe {
namespace {

Status compute_l2_loss(const L2LossArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.t.dtype(), [&]<class T>(std::type_identity<T>) {
    using Acc = gpu::Wide<T>;
    const gpu::Box all{1, static_cast<size_t>(arguments.t.elements()), 1};
    return gpu::reduce_box<Acc>(device, all, gpu::Plus<Acc>{},
                                gpu::TensorSource<T>{arguments.t.as<T>().data(), true},
                                gpu::QuotientSink<T>{arguments.loss.write<T>().data(), 2});
  });
}

}  // namespace

void add_l2_loss_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("L2Loss", check_l2_loss, compute_l2_loss).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe

// Reductions over axes on GPUs: see reductions.cpp. Narrow floats are reduced in float.
#include "kernels/ops/math/reductions.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/reduce_axes.h"

namespace troupe {
namespace {

template <template <class> class Combine, class T>
Status reduce(const ReductionArguments& arguments, int64_t divisor, DeviceContext& device) {
  using Acc = gpu::Wide<T>;
  const gpu::QuotientSink<T> sink{arguments.output->write<T>().data(), static_cast<Acc>(divisor)};
  return gpu::reduce_axes<Combine<Acc>>(device, arguments.input.shape().dims(), arguments.reduced,
                                        gpu::TensorSource<T>{arguments.input.as<T>().data()}, sink);
}

template <template <class> class Combine, bool mean = false>
Status compute_reduction(const ReductionArguments& arguments, DeviceContext& device) {
  if (!arguments.output) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.output->dtype(), [&]<class T>(std::type_identity<T>) {
    return reduce<Combine, T>(arguments, mean ? arguments.count : 1, device);
  });
}

template <class Combine>
Status compute_logic(const ReductionArguments& arguments, DeviceContext& device) {
  if (!arguments.output) return {};
  return gpu::reduce_axes<Combine>(device, arguments.input.shape().dims(), arguments.reduced,
                                   gpu::TensorSource<bool>{arguments.input.as<bool>().data()},
                                   gpu::TensorSink<bool>{arguments.output->write<bool>().data()});
}

}  // namespace

void add_reductions_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::AllFloats{});
  library.kernel(gpu_kernel<ReductionCheck>("Max", compute_reduction<gpu::Greatest>).on("T", types));
  library.kernel(gpu_kernel<MeanCheck>("Mean", compute_reduction<gpu::Plus, true>).on("T", types));
  library.kernel(gpu_kernel<ReductionCheck>("Min", compute_reduction<gpu::Least>).on("T", types));
  library.kernel(gpu_kernel<ReductionCheck>("Prod", compute_reduction<gpu::Times>).on("T", types));
  library.kernel(gpu_kernel<ReductionCheck>("Sum", compute_reduction<gpu::Plus>).on("T", types));
  library.kernel(gpu_kernel<ReductionCheck>("All", compute_logic<gpu::AllTrue>));
  library.kernel(gpu_kernel<ReductionCheck>("Any", compute_logic<gpu::AnyTrue>));
}

}  // namespace troupe

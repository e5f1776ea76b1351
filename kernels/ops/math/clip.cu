// ClipByValue on GPUs: see clip.cpp.
#include "kernels/ops/math/clip.h"

#include "kernels/gpu/functions.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"

namespace troupe {
namespace {

Status compute_clip(const ClipArguments& arguments, DeviceContext& device) {
  const auto& [t, low, high, output] = arguments;
  const auto n = static_cast<size_t>(t.elements());
  const auto step = [](const Tensor& limit) -> ptrdiff_t { return limit.shape().is_scalar() ? 0 : 1; };
  const gpu::Strides<3>::Axis axes[] = {{n, {1, step(low), step(high)}}};
  TROUPE_ASSIGN(const auto strides, gpu::Strides<3>::make(axes));
  return gpu::for_type(gpu::AllFloats{}, t.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::map_strided(device, gpu::Clip(), n, arguments.output.write<T>().data(), strides,
                            arguments.t.as<T>().data(), arguments.low.as<T>().data(),
                            arguments.high.as<T>().data());
  });
}

}  // namespace

void add_clip_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("ClipByValue", check_clip, compute_clip).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe

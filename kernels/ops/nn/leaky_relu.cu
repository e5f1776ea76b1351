// LeakyRelu and LeakyReluGrad on GPUs: see leaky_relu.cpp.
#include "kernels/ops/nn/leaky_relu.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"

namespace troupe {
namespace {

/// The value, multiplied by alpha where the feature is not above 0.
template <class W>
struct Leak {
  W alpha;
  TROUPE_ANY W operator()(W value, W feature) const { return feature > 0 ? value : alpha * value; }
};

template <class T>
Status leak(const LeakyReluArguments& arguments, DeviceContext& device) {
  T alpha;
  gpu::store(alpha, static_cast<gpu::Wide<T>>(arguments.alpha));
  const auto out = arguments.output.write<T>();
  return gpu::map(device, Leak<gpu::Wide<T>>{gpu::load(alpha)}, out.size(), out.data(),
                  arguments.values.as<T>().data(), arguments.features.as<T>().data());
}

Status compute_leaky_relu(const LeakyReluArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.output.dtype(),
                       [&]<class T>(std::type_identity<T>) { return leak<T>(arguments, device); });
}

}  // namespace

void add_leaky_relu_on_gpu(OpLibrary& library) {
  for (const char* op : {"LeakyRelu", "LeakyReluGrad"})
    library.kernel(gpu_kernel(op, check_leaky_relu, compute_leaky_relu).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe

// BiasAdd, BiasAddV1 and BiasAddGrad on GPUs: see bias.cpp.
#include "kernels/ops/nn/bias.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {
namespace {

Status compute_bias_add_grad(const ReductionArguments& arguments, DeviceContext& device) {
  if (!arguments.output) return {};
  const auto dims = arguments.input.shape().dims();
  gpu::ChannelBox box;
  size_t* size = &box.batch;  // of the axes before that of the channels, then of those after it
  for (size_t i = 0; i < dims.size(); ++i) {
    if (arguments.reduced[i]) {
      *size *= static_cast<size_t>(dims[i]);
    } else {
      box.channels = static_cast<size_t>(dims[i]);
      size = &box.spatial;
    }
  }
  return gpu::for_type(gpu::AllFloats{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::sum_channels(device, box, arguments.input.as<T>().data(),
                             arguments.output->write<T>().data());
  });
}

template <class... T>
void add_bias_add(OpLibrary& library, const char* op, TypeList<T...>) {
  constexpr BinaryCheck check{.shape_of = bias_shape};
  (library.kernel(gpu_kernel(op, check, gpu::compute_binary<gpu::Add, T>).on("T", {dtype_of<T>})), ...);
}

}  // namespace

void add_bias_on_gpu(OpLibrary& library) {
  for (const char* op : {"BiasAdd", "BiasAddV1"}) add_bias_add(library, op, gpu::AllFloats{});
  library.kernel(gpu_kernel("BiasAddGrad", check_bias_add_grad, compute_bias_add_grad)
                     .on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe

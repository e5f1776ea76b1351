// AdjustContrast and AdjustContrastv2 on GPUs: see adjust_contrast.cpp.
#include "kernels/ops/images/adjust_contrast.h"

#include <algorithm>

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

struct MeanSink {
  float* means;
  double pixels;
  TROUPE_ANY void operator()(size_t channel, double sum) const {
    means[channel] = static_cast<float>(sum / pixels);
  }
};

template <class From, class To>
struct Adjust {
  const float* means;  ///< of the channels of each image
  gpu::Divider channels, pixels;
  float factor, least, most;
  const From* from;
  To* to;

  TROUPE_ANY void operator()(size_t i) const {
    size_t image = i;
    const size_t channel = gpu::split(channels, image);
    image = pixels.quotient(image);
    const float mean = means[image * channels.divisor() + channel];
    const float changed = (static_cast<float>(gpu::load(from[i])) - mean) * factor + mean;
    gpu::store(to[i], std::max(std::min(changed, most), least));
  }
};

template <class From, class To>
Status adjust(const ContrastArguments& arguments, DeviceContext& device) {
  const auto from = arguments.images.as<From>();
  const size_t pixels = arguments.dim(3) * arguments.dim(2), channels = arguments.dim(1),
               images = from.size() / (pixels * channels);
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, images * channels * sizeof(float)));
  auto* const means = reinterpret_cast<float*>(memory->data);
  TROUPE_RETURN_IF_FAILED(gpu::reduce_box<double>(
      device, gpu::Box{images, pixels, channels}, gpu::Plus<double>{},
      gpu::TensorSource<From, double>{from.data()}, MeanSink{means, static_cast<double>(pixels)}));
  return gpu::each(
      device, from.size(),
      Adjust<From, To>{means, gpu::Divider(channels), gpu::Divider(pixels), arguments.factor, arguments.least,
                       arguments.most, from.data(), arguments.output.write<To>().data()});
}

Status compute_contrast(const ContrastArguments& arguments, DeviceContext& device) {
  if (arguments.images.elements() == 0) return {};
  switch (arguments.images.dtype()) {
    case DType::Half: return adjust<Half, Half>(arguments, device);
    case DType::Double: return adjust<double, float>(arguments, device);
    default: return adjust<float, float>(arguments, device);
  }
}

}  // namespace

void add_adjust_contrast_on_gpu(OpLibrary& library) {
  library.kernel(
      gpu_kernel("AdjustContrast", check_contrast, compute_contrast).on("T", dtypes(gpu::Floats{})));
  library.kernel(gpu_kernel("AdjustContrastv2", check_contrast, compute_contrast)
                     .on("T", dtypes(TypeList<float, Half>{})));
}

}  // namespace troupe

// ExtractImagePatches and ExtractVolumePatches on GPUs: see extract_patches.cpp.
#include "kernels/ops/nn/extract_patches.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/storage.h"
#include "kernels/gpu/units.h"

namespace troupe {
namespace {

constexpr size_t max_axes = 3;

/// A spatial dimension.
struct PatchAxis {
  gpu::Divider size, patches;  ///< pixels of a patch, and patches of an image
  int64_t stride, rate, before, pixels;
  int64_t step;  ///< from one pixel of the image to the next, in units
};

/// Moves unit i of the patches. The channels of a pixel stay together.
template <class T>
struct ExtractUnits {
  const T* images;
  T* patches;
  gpu::Divider channels;    ///< units of a pixel
  gpu::Divider depth = {};  ///< units of a patch
  unsigned rank = 0;
  int64_t image = 0;  ///< units of an image
  PatchAxis axes[max_axes] = {};

  TROUPE_ANY void operator()(size_t i) const {
    size_t patch = i, in_patch = gpu::split(depth, patch);
    auto source = static_cast<int64_t>(gpu::split(channels, in_patch));
    for (unsigned k = rank; k-- > 0;) {
      const PatchAxis& axis = axes[k];
      const auto number = static_cast<int64_t>(gpu::split(axis.patches, patch)),
                 pixel = static_cast<int64_t>(gpu::split(axis.size, in_patch));
      const int64_t at = number * axis.stride - axis.before + pixel * axis.rate;
      if (at < 0 || at >= axis.pixels) {
        patches[i] = T{};
        return;
      }
      source += at * axis.step;
    }
    patches[i] = images[source + static_cast<int64_t>(patch) * image];
  }
};

/// Describes the extraction in units of which a pixel has `channels`.
template <class T>
ExtractUnits<T> extraction_of(const PatchesArguments& arguments, int64_t channels) {
  const Cuts& cuts = arguments.cuts;
  ExtractUnits<T> result{gpu::stored<T>(arguments.images), gpu::stored<T>(arguments.patches),
                         gpu::divider(channels)};
  result.rank = static_cast<unsigned>(cuts.size());
  result.image = channels;
  int64_t depth = channels;
  for (size_t k = cuts.size(); k-- > 0; result.image *= cuts[k].pixels, depth *= cuts[k].size)
    result.axes[k] = {gpu::divider(cuts[k].size),
                      gpu::divider(cuts[k].patches),
                      cuts[k].stride,
                      cuts[k].rate,
                      cuts[k].before,
                      cuts[k].pixels,
                      result.image};
  result.depth = gpu::divider(depth);
  return result;
}

Status compute_patches(const PatchesArguments& arguments, DeviceContext& device) {
  const Tensor &images = arguments.images, &patches = arguments.patches;
  if (patches.elements() == 0) return {};
  const auto channels = static_cast<size_t>(images.shape().dims().back()), element = size_of(images.dtype());
  const size_t unit = gpu::unit_of_rows(element, channels, images.data(), patches.data());
  return gpu::with_unit(unit, [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, patches.bytes() / unit,
                     extraction_of<T>(arguments, static_cast<int64_t>(channels * element / unit)));
  });
}

}  // namespace

/// Not of integers: the gradient takes patches of the numbers of pixels, and computes with them on the host.
void add_extract_patches_on_gpu(OpLibrary& library) {
  for (const char* op : {"ExtractImagePatches", "ExtractVolumePatches"})
    library.kernel(gpu_kernel(op, check_patches, compute_patches).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe

// ExtractImagePatches and ExtractVolumePatches: the check on the host, and the arguments that it returns to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"

namespace troupe {

/// How a spatial dimension is cut in patches.
struct Cut {
  int64_t size = 0;  ///< pixels of a patch
  int64_t stride = 0, rate = 1;
  int64_t pixels = 0;   ///< of the image; -1: unknown
  int64_t before = 0;   ///< pixels of padding
  int64_t patches = 0;  ///< -1: unknown
};
using Cuts = ShortList<Cut>;  ///< one for each spatial dimension

/// Pixel (y, x) of patch (i, j) is pixel (i * stride - before + y * rate, ...) of the image, or zero where that has none. Volumes
/// have one dimension more.
struct PatchesArguments {
  const Tensor& images;
  Tensor& patches;
  Cuts cuts;
};

/// Fails with InvalidArgument if the images have another rank, or the attributes do not fit them.
Result<PatchesArguments> check_patches(KernelContext& context);

}  // namespace troupe

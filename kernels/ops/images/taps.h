// Images whose pixels are weighted sums of the pixels of others, first along columns, then along rows: each row of the output is a
// sum of rows, and each pixel of it one of pixels of that sum. Pure functions; any thread may call them.
#pragma once

#include <functional>
#include <vector>

#include "kernels/ops/images/resize.h"

namespace troupe {

/// For each pixel of one dimension, the pixels that it is a sum of, and their weights.
struct Taps {
  std::vector<size_t> ends = {0};  ///< pixel i has taps ends[i] to ends[i + 1]
  std::vector<int64_t> pixels;
  std::vector<float> weights;

  size_t size() const { return ends.size() - 1; }
  void add(int64_t pixel, float weight) {
    pixels.push_back(pixel);
    weights.push_back(weight);
  }
  void end_pixel() { ends.push_back(pixels.size()); }
};

using TapsOf = Taps (*)(const Sampling&);

/// Returns the taps through which each of `size` pixels goes into others, in the order of the latter: those of the gradient.
Taps transposed(const Taps& taps, int64_t size);

/// Returns the taps of ResizeBilinear: two for each pixel.
Taps linear_taps(const Sampling& sampling);

/// Each pixel of the output is the sum times `scale`. The sums are floats, of an output of doubles doubles.
struct TapsArguments {
  ResizeArguments images;
  Taps rows, columns;
  float scale = 1;

  static TapsArguments of(const ResizeArguments& images, TapsOf taps_of);
  /// Of the gradient of an op that takes sums through the taps.
  static TapsArguments of_gradient(const ResizeArguments& images, TapsOf taps_of);
};

/// The checks of the ops that are such sums.
Result<TapsArguments> check_bilinear_gradient(KernelContext& context);
Result<TapsArguments> check_bicubic(KernelContext& context);
Result<TapsArguments> check_bicubic_gradient(KernelContext& context);
Result<TapsArguments> check_area(KernelContext& context);
Result<TapsArguments> check_scale(KernelContext& context);
Result<TapsArguments> check_scale_gradient(KernelContext& context);

/// Computes the output on a CPU.
void sum_taps(const TapsArguments& arguments, DeviceContext& device);

}  // namespace troupe

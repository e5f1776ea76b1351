// Images of another size, each pixel of which is interpolated between the nearest two by two pixels of the original.
//   ResizeBilinear(images, size)               floats
//   ResizeBilinearGrad(grads, original_image)  the gradient by the original image
#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"
#include "kernels/ops/images/interpolation.h"
#include "kernels/ops/images/taps.h"

namespace troupe {
namespace {

/// Returns where a resized pixel lies among those of the original.
Between place_of(const Sampling& sampling, int64_t pixel) {
  Between place = between(sampling.at(pixel));
  place.lower = sampling.inside(place.lower);
  place.upper = sampling.inside(place.upper);
  return place;
}

RowPlaces places(const Sampling& columns, int64_t channels) {
  RowPlaces result{{}, channels};
  for (int64_t x = 0; x < columns.resized; ++x) {
    const Between place = place_of(columns, x);
    result.pixels.push_back({place.lower * channels, place.upper * channels, place.part});
  }
  result.allow_fast(columns.original * channels);
  return result;
}

template <class T>
void resize(const ResizeArguments& arguments, Pool& pool) {
  const Tensor& input = arguments.images;
  const Sampling &rows = arguments.rows, &columns = arguments.columns;
  const int64_t channels = input.shape()[3], row = columns.original * channels;
  const T* const images = reinterpret_cast<const T*>(input.data());
  float* const to = reinterpret_cast<float*>(arguments.output.mutable_data());
  const RowPlaces across = places(columns, channels);
  const size_t cost = static_cast<size_t>(columns.resized * channels) * 8;
  parallel_rows(pool, static_cast<size_t>(input.shape()[0] * rows.resized), cost,
                [&](size_t begin, size_t end) {
                  for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
                    const T* const image = images + r / rows.resized * rows.original * row;
                    const Between y = place_of(rows, r % rows.resized);
                    interpolate_row(image + y.lower * row, image + y.upper * row, across, y.part,
                                    to + r * columns.resized * channels);
                  }
                });
}

void compute_bilinear(const ResizeArguments& arguments, DeviceContext& device) {
  const auto& [images, output, rows, columns] = arguments;
  if (output.elements() == 0) return;
  if (rows.original == rows.resized && columns.original == columns.resized)
    return convert(device.pool(), images, arguments.output);
  with_type(ResizedTypes{}, images.dtype(),
            [&]<class T>(std::type_identity<T>) { resize<T>(arguments, device.pool()); });
}

void bilinear_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, scope.add_one("ResizeBilinearGrad", {context.gradient(), context.input(0)},
                               sampling_attrs(context)));
}

void second_bilinear_gradient(GradientContext& context) { set_second_gradient(context, "ResizeBilinear"); }

}  // namespace

Taps linear_taps(const Sampling& sampling) {
  Taps taps;
  for (int64_t i = 0; i < sampling.resized; ++i) {
    const Between place = place_of(sampling, i);
    taps.add(place.lower, 1 - place.part);
    taps.add(place.upper, place.part);
    taps.end_pixel();
  }
  return taps;
}

Result<TapsArguments> check_bilinear_gradient(KernelContext& context) {
  TROUPE_ASSIGN(const ResizeArguments images, check_resize_gradient(context));
  return TapsArguments::of_gradient(images, linear_taps);
}

void add_resize_bilinear_ops(OpLibrary& library) {
  library.op(resize_op("ResizeBilinear", "float")
                 .constructor("resize_bilinear(images, size, align_corners, half_pixel_centers)")
                 .gradient(bilinear_gradient));
  library.op(resize_gradient_op("ResizeBilinearGrad", "T: {float, bfloat16, half, double}")
                 .gradient(second_bilinear_gradient));
  library.kernel(cpu_kernel("ResizeBilinear", check_resize, compute_bilinear));
  library.kernel(cpu_kernel("ResizeBilinearGrad", check_bilinear_gradient, sum_taps));
}

}  // namespace troupe

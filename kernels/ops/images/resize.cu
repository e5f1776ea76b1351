// ResizeArea, ResizeBicubic, ResizeBilinear, ResizeNearestNeighbor, ScaleAndTranslate and their gradients on GPUs: see resize_*.cpp
// and scale_and_translate.cpp. The host finds the taps of the rows and of the columns; each element of the output is a sum over
// both.
#include "kernels/ops/images/taps.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

/// The taps of one dimension in device memory.
struct TapTable {
  const size_t* ends;
  const int64_t* pixels;
  const float* weights;
};

class UploadedTaps {
 public:
  static Result<UploadedTaps> make(DeviceContext& device, const Taps& taps) {
    UploadedTaps result;
    TROUPE_ASSIGN(result.ends_, gpu::uploaded(device, std::span<const size_t>(taps.ends)));
    TROUPE_ASSIGN(result.pixels_, gpu::uploaded(device, std::span<const int64_t>(taps.pixels)));
    TROUPE_ASSIGN(result.weights_, gpu::uploaded(device, std::span<const float>(taps.weights)));
    return result;
  }
  TapTable table() const {
    return {reinterpret_cast<const size_t*>(ends_->data), reinterpret_cast<const int64_t*>(pixels_->data),
            reinterpret_cast<const float*>(weights_->data)};
  }

 private:
  BufferRef ends_, pixels_, weights_;
};

template <class T, class R>
struct SumTaps {
  using Sum = gpu::Wide<R>;
  TapTable rows, columns;
  const T* from;
  R* to;
  gpu::Divider channels, width, height;  ///< of the output
  size_t from_width, from_height;
  float scale;

  /// Sums the elements of a column through the taps of output row y, four at a time, as CPUs do.
  TROUPE_ANY Sum column_sum(size_t y, const T* column) const {
    const size_t row = from_width * channels.divisor(), end = rows.ends[y + 1];
    Sum sum = 0;
    for (size_t first = rows.ends[y]; first < end; first += 4) {
      Sum part = 0;
      for (size_t r = first; r < end && r < first + 4; ++r)
        part += static_cast<Sum>(gpu::load(column[static_cast<size_t>(rows.pixels[r]) * row])) *
                static_cast<Sum>(rows.weights[r]);
      sum += part;
    }
    return sum;
  }
  TROUPE_ANY void operator()(size_t i) const {
    size_t image = i;
    const size_t channel = gpu::split(channels, image), x = gpu::split(width, image),
                 y = gpu::split(height, image);
    const T* const first = from + image * from_height * from_width * channels.divisor() + channel;
    Sum sum = 0;
    for (size_t c = columns.ends[x]; c < columns.ends[x + 1]; ++c)
      sum += column_sum(y, first + static_cast<size_t>(columns.pixels[c]) * channels.divisor()) *
             static_cast<Sum>(columns.weights[c]);
    gpu::store(to[i], sum * static_cast<Sum>(scale));
  }
};

template <class T, class R>
Status sum_images(const TapsArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const UploadedTaps rows, UploadedTaps::make(device, arguments.rows));
  TROUPE_ASSIGN(const UploadedTaps columns, UploadedTaps::make(device, arguments.columns));
  const auto& images = arguments.images;
  const Shape &from = images.images.shape(), &to = images.output.shape();
  const auto size = [&](size_t axis) { return gpu::Divider(static_cast<size_t>(to[axis])); };
  return gpu::each(
      device, static_cast<size_t>(to.elements()),
      SumTaps<T, R>{rows.table(), columns.table(), images.images.as<T>().data(),
                    images.output.write<R>().data(), size(3), size(2), size(1), static_cast<size_t>(from[2]),
                    static_cast<size_t>(from[1]), arguments.scale});
}

/// The images, the output or both are floats, or both have one type.
Status compute_sums(const TapsArguments& arguments, DeviceContext& device) {
  const auto& [images, output, rows, columns] = arguments.images;
  if (output.elements() == 0) return {};
  const DType from = images.dtype(), to = output.dtype();
  return gpu::for_type(gpu::AllFloats{}, from == DType::Float ? to : from,
                       [&]<class T>(std::type_identity<T>) {
                         return from == to             ? sum_images<T, T>(arguments, device)
                                : from == DType::Float ? sum_images<float, T>(arguments, device)
                                                       : sum_images<T, float>(arguments, device);
                       });
}

Taps nearest_taps(const Sampling& sampling) {
  Taps taps;
  for (int64_t i = 0; i < sampling.resized; ++i) {
    taps.add(sampling.nearest(i), 1);
    taps.end_pixel();
  }
  return taps;
}

/// Computes the op through these taps, or its gradient.
template <TapsOf taps_of>
Status compute(const ResizeArguments& images, DeviceContext& device) {
  return compute_sums(TapsArguments::of(images, taps_of), device);
}
template <TapsOf taps_of>
Status compute_gradient(const ResizeArguments& images, DeviceContext& device) {
  return compute_sums(TapsArguments::of_gradient(images, taps_of), device);
}

}  // namespace

void add_resize_on_gpu(OpLibrary& library) {
  const auto all = dtypes(gpu::AllFloats{});
  const auto add = [&](const char* op, auto check, auto compute_function, const std::vector<DType>& types) {
    library.kernel(gpu_kernel(op, check, compute_function).on("T", types));
  };
  add("ResizeArea", check_area, compute_sums, all);
  add("ResizeBicubic", check_bicubic, compute_sums, all);
  add("ResizeBicubicGrad", check_bicubic_gradient, compute_sums, dtypes(gpu::Floats{}));
  add("ResizeBilinear", check_resize, compute<linear_taps>, all);
  add("ResizeBilinearGrad", check_bilinear_gradient, compute_sums, all);
  add("ResizeNearestNeighbor", check_resize, compute<nearest_taps>, all);
  add("ResizeNearestNeighborGrad", check_resize_gradient_to_size, compute_gradient<nearest_taps>, all);
  add("ScaleAndTranslate", check_scale, compute_sums, all);
  add("ScaleAndTranslateGrad", check_scale_gradient, compute_sums, {DType::Float});
}

}  // namespace troupe

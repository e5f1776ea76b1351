// ResizeBilinear, ResizeNearestNeighbor and their gradients on GPUs: see resize_bilinear.cpp and resize_nearest.cpp. The host finds
// the taps of the rows and of the columns; each element of the output is a sum over both.
#include "kernels/ops/images/resize.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/ops/images/taps.h"

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
  TapTable rows, columns;
  const T* from;
  R* to;
  gpu::Divider channels, width, height;  ///< of the output
  int64_t from_width, from_height;

  TROUPE_ANY void operator()(size_t i) const {
    size_t image = i;
    const size_t channel = gpu::split(channels, image), x = gpu::split(width, image),
                 y = gpu::split(height, image);
    gpu::Wide<R> sum = 0;
    for (size_t r = rows.ends[y]; r < rows.ends[y + 1]; ++r) {
      const int64_t line = (static_cast<int64_t>(image) * from_height + rows.pixels[r]) * from_width;
      gpu::Wide<R> of_line = 0;
      for (size_t c = columns.ends[x]; c < columns.ends[x + 1]; ++c) {
        const size_t pixel = static_cast<size_t>(line + columns.pixels[c]);
        of_line += static_cast<gpu::Wide<R>>(gpu::load(from[pixel * channels.divisor() + channel])) *
                   columns.weights[c];
      }
      sum += of_line * rows.weights[r];
    }
    gpu::store(to[i], sum);
  }
};

Taps nearest_taps(const Sampling& sampling) {
  Taps taps;
  for (int64_t i = 0; i < sampling.resized; ++i) {
    taps.add(sampling.nearest(i), 1);
    taps.end_pixel();
  }
  return taps;
}

template <class T, class R>
Status sum_taps(const ResizeArguments& arguments, const Taps& rows, const Taps& columns,
                DeviceContext& device) {
  TROUPE_ASSIGN(const UploadedTaps down, UploadedTaps::make(device, rows));
  TROUPE_ASSIGN(const UploadedTaps across, UploadedTaps::make(device, columns));
  const Shape &from = arguments.images.shape(), &to = arguments.output.shape();
  const auto size = [&](size_t axis) { return gpu::Divider(static_cast<size_t>(to[axis])); };
  return gpu::each(
      device, static_cast<size_t>(to.elements()),
      SumTaps<T, R>{down.table(), across.table(), arguments.images.as<T>().data(),
                    arguments.output.write<R>().data(), size(3), size(2), size(1), from[2], from[1]});
}

using TapsOf = Taps (*)(const Sampling&);

/// The images and the output have the types T and R; with `Gradient`, pixels go the other way.
template <TapsOf taps_of, bool Gradient, class T, class R>
Status compute(const ResizeArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  const auto taps = [](const Sampling& sampling) {
    return Gradient ? transposed(taps_of(sampling), sampling.original) : taps_of(sampling);
  };
  return sum_taps<T, R>(arguments, taps(arguments.rows), taps(arguments.columns), device);
}

template <class... T>
void add_kernels(OpLibrary& library, TypeList<T...>) {
  const auto add = [&](const char* op, auto check, auto compute_function, DType dtype) {
    library.kernel(gpu_kernel(op, check, compute_function).on("T", {dtype}));
  };
  (add("ResizeBilinear", check_resize, compute<linear_taps, false, T, float>, dtype_of<T>), ...);
  (add("ResizeBilinearGrad", check_resize_gradient, compute<linear_taps, true, float, T>, dtype_of<T>), ...);
  (add("ResizeNearestNeighbor", check_resize, compute<nearest_taps, false, T, T>, dtype_of<T>), ...);
  (add("ResizeNearestNeighborGrad", check_resize_gradient_to_size, compute<nearest_taps, true, T, T>,
       dtype_of<T>),
   ...);
}

}  // namespace

void add_resize_on_gpu(OpLibrary& library) { add_kernels(library, gpu::AllFloats{}); }

}  // namespace troupe

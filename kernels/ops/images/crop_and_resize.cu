// CropAndResize and its gradients on GPUs: see crop_and_resize.cpp.
#include "kernels/ops/images/crop_and_resize.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

using CroppedTypes = TypeList<float, double, Half>;

// ---- Boxes

struct CheckBoxes {
  CropBoxes boxes;
  int64_t batch;
  gpu::FaultReport no_image, not_finite;

  TROUPE_ANY void operator()(size_t i) const {
    const int64_t image = boxes.numbers[i];
    if (image < 0 || image >= batch) no_image(image, batch);
    for (size_t k = 4 * i; k < 4 * i + 4; ++k)
      if (!std::isfinite(boxes.boxes[k])) not_finite(0, 0);
  }
};

/// Reports numbers of images and coordinates of boxes that are wrong.
Status check_boxes(const CropArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(
      gpu::each(device, static_cast<size_t>(arguments.numbers.elements()),
                CheckBoxes{CropBoxes(arguments), arguments.batch,
                           gpu::fault_report(device, "box_ind = {} is not in [0, {})"),
                           gpu::fault_report(device, "boxes has a coordinate that is not finite")}));
  return gpu::check_fault(device);
}

/// The crops, and the images [batch, height, width, channels] from which they are cut.
struct Crops {
  CropBoxes boxes;
  int64_t batch;
  gpu::Divider channels, columns, rows;  ///< of a crop
  bool nearest;

  explicit Crops(const CropArguments& arguments)
      : boxes(arguments), batch(arguments.batch), channels(divider(arguments.channels)),
        columns(divider(arguments.columns)), rows(divider(arguments.rows)), nearest(arguments.nearest) {}

  /// Calls use(its box, row, column, the places of both, channel) if an element of the crops lies in an image. Returns whether it
  /// does.
  template <class Use>
  TROUPE_ANY bool find(size_t element, const Use& use) const {
    const size_t channel = gpu::split(channels, element);
    const auto x = static_cast<int64_t>(gpu::split(columns, element)),
               y = static_cast<int64_t>(gpu::split(rows, element));
    const CropBox box = boxes[element];
    const float down = box.y.at(y), across = box.x.at(x);
    if (box.image < 0 || box.image >= batch || !box.y.holds(down) || !box.x.holds(across)) return false;
    use(box, y, x, box.y.place(down, nearest), box.x.place(across, nearest), channel);
    return true;
  }
  /// Returns the four pixels of an image around a place.
  template <class T>
  TROUPE_ANY FourPixels pixels(const T* images, int64_t image, const Between& y, const Between& x,
                               size_t channel) const {
    const auto at = [&](int64_t row, int64_t column) {
      const int64_t pixel = (image * boxes.height + row) * boxes.width + column;
      return static_cast<float>(gpu::load(images[static_cast<size_t>(pixel) * channels.divisor() + channel]));
    };
    return {at(y.lower, x.lower), at(y.lower, x.upper), at(y.upper, x.lower), at(y.upper, x.upper)};
  }

 private:
  static gpu::Divider divider(int64_t size) {
    return gpu::Divider(static_cast<size_t>(std::max<int64_t>(size, 1)));
  }
};

// ---- CropAndResize

template <class T>
struct Crop {
  Crops crops;
  const T* images;
  float outside;
  float* to;

  TROUPE_ANY void operator()(size_t i) const {
    const bool found = crops.find(
        i, [&](const CropBox& box, int64_t, int64_t, const Between& y, const Between& x, size_t channel) {
          to[i] = crops.pixels(images, box.image, y, x, channel).at(x.part, y.part);
        });
    if (!found) to[i] = outside;
  }
};

Status compute_crop(const CropArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_boxes(arguments, device));
  return gpu::for_type(CroppedTypes{}, arguments.pixels.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto to = arguments.output.write<float>();
    return gpu::each(
        device, to.size(),
        Crop<T>{Crops(arguments), arguments.pixels.as<T>().data(), arguments.outside, to.data()});
  });
}

// ---- The gradient by the images

/// Pixels begin, begin + 1, ... below end of a crop.
struct PixelSpan {
  int64_t begin, end;
};

/// Returns the first pixel of the crop for whose position `reached` is true; it stays true for all that follow.
template <class Reached>
TROUPE_ANY int64_t first_pixel(const CropAxis& axis, const Reached& reached) {
  int64_t begin = 0, end = axis.crop;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (reached(axis.at(middle)))
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

/// Returns the pixels of the crop that are up to one pixel of the image away from one.
TROUPE_ANY PixelSpan around(const CropAxis& axis, int64_t pixel) {
  const auto least = static_cast<float>(pixel - 1), most = static_cast<float>(pixel + 1);
  const bool rises = axis.begin <= axis.end;
  return {first_pixel(axis, [&](float at) { return rises ? at >= least : at <= most; }),
          first_pixel(axis, [&](float at) { return rises ? at > most : at < least; })};
}

/// Each element of an image sums the gradients of the pixels that were taken from it: box by box, row by row, as CPUs do.
template <class T>
struct SumCrops {
  using Sum = gpu::Wide<T>;
  Crops crops;
  size_t count;
  gpu::Divider width, height;  ///< of an image
  const float* grads;
  T* to;

  /// Calls use(place, pixel of the crop) for those of the pixels that the image holds.
  template <class Use>
  TROUPE_ANY void for_places(const CropAxis& axis, const PixelSpan& span, const Use& use) const {
    for (int64_t i = span.begin; i < span.end; ++i)
      if (const float position = axis.at(i); axis.holds(position))
        use(axis.place(position, crops.nearest), i);
  }
  TROUPE_ANY void operator()(size_t i) const {
    size_t image = i;
    const size_t channel = gpu::split(crops.channels, image);
    const auto column = static_cast<int64_t>(gpu::split(width, image)),
               row = static_cast<int64_t>(gpu::split(height, image));
    Sum sum = 0;
    for (size_t b = 0; b < count; ++b) {
      const CropBox box = crops.boxes[b];
      if (box.image != static_cast<int64_t>(image)) continue;
      const PixelSpan rows = around(box.y, row);
      if (rows.begin == rows.end) continue;
      const PixelSpan columns = around(box.x, column);
      const auto add_row = [&](const float* from, float weight) {
        for_places(box.x, columns, [&](const Between& x, int64_t k) {
          const float gradient = weight * from[static_cast<size_t>(k) * crops.channels.divisor()];
          if (x.lower == column) sum += static_cast<Sum>((1 - x.part) * gradient);
          if (x.upper == column) sum += static_cast<Sum>(x.part * gradient);
        });
      };
      for_places(box.y, rows, [&](const Between& y, int64_t k) {
        const size_t first = (b * crops.rows.divisor() + static_cast<size_t>(k)) * crops.columns.divisor();
        const float* const from = grads + first * crops.channels.divisor() + channel;
        if (y.lower == row) add_row(from, 1 - y.part);
        if (y.upper == row && y.part != 0) add_row(from, y.part);
      });
    }
    gpu::store(to[i], sum);
  }
};

Status compute_image_gradient(const CropArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_boxes(arguments, device));
  return gpu::for_type(CroppedTypes{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto to = arguments.output.write<T>();
    return gpu::each(device, to.size(),
                     SumCrops<T>{Crops(arguments), static_cast<size_t>(arguments.numbers.elements()),
                                 gpu::Divider(static_cast<size_t>(arguments.width)),
                                 gpu::Divider(static_cast<size_t>(arguments.height)),
                                 arguments.pixels.as<float>().data(), to.data()});
  });
}

// ---- The gradient by the boxes

/// The gradient by a box.
struct BoxGradient {
  float y1 = 0, x1 = 0, y2 = 0, x2 = 0;
  TROUPE_ANY friend BoxGradient operator+(const BoxGradient& a, const BoxGradient& b) {
    return {a.y1 + b.y1, a.x1 + b.x1, a.y2 + b.y2, a.x2 + b.x2};
  }
};

/// What each element of the crops adds to the gradient by its box.
template <class T>
struct BoxGradients {
  Crops crops;
  const T* images;
  const float* grads;

  TROUPE_ANY BoxGradient operator()(size_t i) const {
    BoxGradient result;
    crops.find(i, [&](const CropBox& box, int64_t row, int64_t column, const Between& y, const Between& x,
                      size_t channel) {
      const FourPixels pixels = crops.pixels(images, box.image, y, x, channel);
      const float down = pixels.slope_y(x.part) * grads[i], across = pixels.slope_x(y.part) * grads[i];
      const CropMoves rows = CropMoves::of(box.y, row), columns = CropMoves::of(box.x, column);
      result = {down * rows.begin, across * columns.begin, down * rows.end, across * columns.end};
    });
    return result;
  }
};

struct BoxGradientSink {
  float* to;
  TROUPE_ANY void operator()(size_t box, const BoxGradient& gradient) const {
    to[4 * box] = gradient.y1;
    to[4 * box + 1] = gradient.x1;
    to[4 * box + 2] = gradient.y2;
    to[4 * box + 3] = gradient.x2;
  }
};

Status compute_boxes_gradient(const CropArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_boxes(arguments, device));
  const gpu::Box box{static_cast<size_t>(arguments.numbers.elements()),
                     static_cast<size_t>(arguments.rows * arguments.columns * arguments.channels), 1};
  return gpu::for_type(CroppedTypes{}, arguments.image->dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::reduce_box<BoxGradient>(device, box, gpu::Plus<BoxGradient>{},
                                        BoxGradients<T>{Crops(arguments), arguments.image->as<T>().data(),
                                                        arguments.pixels.as<float>().data()},
                                        BoxGradientSink{arguments.output.write<float>().data()});
  });
}

}  // namespace

void add_crop_and_resize_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, auto check, auto compute) {
    library.kernel(gpu_kernel(op, check, compute).on("T", dtypes(CroppedTypes{})));
  };
  add("CropAndResize", check_crop, compute_crop);
  add("CropAndResizeGradImage", check_crop_image_gradient, compute_image_gradient);
  add("CropAndResizeGradBoxes", check_crop_boxes_gradient, compute_boxes_gradient);
}

}  // namespace troupe

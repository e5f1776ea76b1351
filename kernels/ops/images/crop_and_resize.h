// CropAndResize and its gradients: the checks on the host, the arguments that they return to the compute functions of each type of
// device (kernels/core/checked_kernel.h), and where the pixels of crops lie. Any thread may call the functions.
#pragma once

#include <algorithm>

#include "kernels/core/checked_kernel.h"
#include "kernels/ops/images/interpolation.h"

namespace troupe {

struct CropArguments {
  const Tensor& pixels;  ///< the images; of the gradient by images that of the crops
  const Tensor* image;   ///< of the gradient by boxes: the images
  const Tensor& boxes;
  const Tensor& numbers;  ///< of the images
  Tensor& output;
  int64_t batch;          ///< images
  int64_t height, width;  ///< of an image
  int64_t rows, columns;  ///< of a crop
  int64_t channels;
  bool nearest;
  float outside = 0;
};

/// Fail with InvalidArgument if shapes do not fit. The elements of boxes and of box_ind are not checked yet.
Result<CropArguments> check_crop(KernelContext& context);
Result<CropArguments> check_crop_image_gradient(KernelContext& context);
Result<CropArguments> check_crop_boxes_gradient(KernelContext& context);

/// The positions along one dimension of the pixels of a crop.
struct CropAxis {
  float begin = 0, end = 0;
  int64_t pixels = 0;  ///< of the image
  int64_t crop = 0;    ///< pixels of the crop

  TROUPE_ANY float last() const { return static_cast<float>(pixels - 1); }
  TROUPE_ANY float at(int64_t i) const {
    if (crop == 1) return static_cast<float>(0.5 * static_cast<double>(begin + end) * last());
    const float step = (end - begin) * last() / static_cast<float>(crop - 1);
    return begin * last() + static_cast<float>(i) * step;
  }
  TROUPE_ANY bool holds(float place) const { return place >= 0 && place <= last(); }
  /// Of a position that the image holds. Of more than 2^24 pixels the last position may be rounded up, beyond the last pixel.
  TROUPE_ANY Between place(float position, bool nearest) const {
    Between place = between(nearest ? std::round(position) : position);
    place.lower = std::min(place.lower, pixels - 1);
    place.upper = std::min(place.upper, pixels - 1);
    return place;
  }
};

struct CropBox {
  CropAxis y, x;
  int64_t image;
};

/// The boxes, which lie in the memory of the device.
struct CropBoxes {
  const float* boxes;
  const int32_t* numbers;
  int64_t height, width, rows, columns;

  explicit CropBoxes(const CropArguments& arguments)
      : boxes(arguments.boxes.as<float>().data()), numbers(arguments.numbers.as<int32_t>().data()),
        height(arguments.height), width(arguments.width), rows(arguments.rows), columns(arguments.columns) {}

  TROUPE_ANY CropBox operator[](size_t i) const {
    const float* const box = boxes + 4 * i;
    return {{box[0], box[2], height, rows}, {box[1], box[3], width, columns}, numbers[i]};
  }
};

/// By how much the ends of an axis move the position of a pixel of the crop.
struct CropMoves {
  float begin, end;

  TROUPE_ANY static CropMoves of(const CropAxis& axis, int64_t i) {
    if (axis.crop == 1) return {axis.last() / 2, axis.last() / 2};
    const float end = static_cast<float>(i) * (axis.last() / static_cast<float>(axis.crop - 1));
    return {axis.last() - end, end};
  }
};

}  // namespace troupe

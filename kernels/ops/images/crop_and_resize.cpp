// Boxes cut out of images [batch, height, width, channels] and resized to one size. Box i, [y1, x1, y2, x2] in units of the height
// and width less one pixel, is cut out of image box_ind[i]; it may be mirrored, and where it reaches beyond the image the crop has
// `extrapolation_value`. Method "bilinear" interpolates between the nearest two by two pixels, "nearest" takes the nearest one.
//   CropAndResize(image, boxes, box_ind, crop_size)
//   CropAndResizeGradImage(grads, boxes, box_ind, image_size)   the gradient by images of this shape
//   CropAndResizeGradBoxes(grads, image, boxes, box_ind)        the gradient by the boxes, always that of "bilinear"
// InvalidArgument for boxes that are not finite and images that do not exist.
#include "kernels/ops/images/crop_and_resize.h"

#include <array>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/images/taps.h"

namespace troupe {
namespace {

using CroppedTypes = TypeList<float, uint8_t, double, Half, int8_t, int16_t, uint16_t, int32_t, int64_t>;
using CropGradientTypes = TypeList<float, Half, double>;

constexpr std::string_view cropped_types =
    "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}";

// ---- Checks

Status check_boxes(const Shape& boxes, const Shape& numbers) {
  if (boxes.rank() == 2 && boxes[1] == 4 && numbers.rank() == 1 && numbers[0] == boxes[0]) return {};
  return invalid_argument("boxes of shape " + boxes.text() + " and box_ind of shape " + numbers.text() +
                          " must have shapes [n,4] and [n]");
}

Status check_crop_image(std::span<const int64_t> dims, std::string_view name) {
  const auto fits = [](int64_t dim) { return dim > 0 && dim < (int64_t{1} << 31); };
  if (dims.size() == 4 && fits(dims[1]) && fits(dims[2])) return {};
  return invalid_argument(std::string(name) + " of shape " + text_of(dims) +
                          " must be [batch, height, width, channels], with pixels");
}

/// Checks what the device reads: numbers of images and coordinates of boxes.
Status check_elements(const CropArguments& arguments) {
  TROUPE_RETURN_IF_FAILED(check_indices(arguments.numbers, arguments.batch, "box_ind"));
  const auto boxes = arguments.boxes.as<float>();
  const auto bad = std::ranges::find_if_not(boxes, [](float value) { return std::isfinite(value); });
  if (bad == boxes.end()) return {};
  return invalid_argument(element_name("boxes", arguments.boxes.shape(), bad - boxes.begin()) + " = " +
                          std::to_string(*bad) + " is not finite");
}

Status check_crop_gradient(const Shape& grads, const Shape& boxes, std::span<const int64_t> image) {
  TROUPE_RETURN_IF_FAILED(check_crop_image(grads.dims(), "grads"));
  TROUPE_RETURN_IF_FAILED(check_crop_image(image, "the image"));
  if (grads[0] == boxes[0] && grads[3] == image[3]) return {};
  return invalid_argument("grads of shape " + grads.text() + " must have one crop for each of " +
                          std::to_string(boxes[0]) + " boxes and the channels of the image " +
                          text_of(image));
}

// ---- Crops

/// The columns of a crop that lie in the image: from `first` on.
struct CropColumns {
  RowPlaces places;
  int64_t first = 0;
};

CropColumns columns_of(const CropArguments& arguments, const CropBox& box) {
  CropColumns result{{{}, arguments.channels}};
  for (int64_t x = 0; x < arguments.columns; ++x) {
    const float position = box.x.at(x);
    if (!box.x.holds(position)) continue;
    if (result.places.pixels.empty()) result.first = x;
    const Between place = box.x.place(position, arguments.nearest);
    result.places.pixels.push_back(
        {place.lower * arguments.channels, place.upper * arguments.channels, place.part});
  }
  result.places.allow_fast(arguments.width * arguments.channels);
  return result;
}

template <class T>
void crop_row(const CropArguments& arguments, const CropBox& box, const CropColumns& columns, int64_t y,
              float* to) {
  const int64_t channels = arguments.channels, row = arguments.width * channels;
  float* const end = to + arguments.columns * channels;
  const float position = box.y.at(y);
  if (!box.y.holds(position)) return static_cast<void>(std::fill(to, end, arguments.outside));
  const Between place = box.y.place(position, arguments.nearest);
  const T* const image =
      reinterpret_cast<const T*>(arguments.pixels.data()) + box.image * arguments.height * row;
  float* const first = std::fill_n(to, columns.first * channels, arguments.outside);
  interpolate_row(image + place.lower * row, image + place.upper * row, columns.places, place.part, first);
  std::fill(first + static_cast<int64_t>(columns.places.pixels.size()) * channels, end, arguments.outside);
}

template <class T>
void crop_boxes(const CropArguments& arguments, Pool& pool) {
  const int64_t height = arguments.rows, row = arguments.columns * arguments.channels;
  float* const to = reinterpret_cast<float*>(arguments.output.mutable_data());
  parallel_rows(pool, static_cast<size_t>(arguments.boxes.shape()[0] * height), static_cast<size_t>(row) * 8,
                [&](size_t begin, size_t end) {
                  CropBox box;
                  CropColumns columns;
                  for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
                    if (r == static_cast<int64_t>(begin) || r % height == 0) {
                      box = CropBoxes(arguments)[static_cast<size_t>(r / height)];
                      columns = columns_of(arguments, box);
                    }
                    crop_row<T>(arguments, box, columns, r % height, to + r * row);
                  }
                });
}

Status compute_crop(const CropArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_elements(arguments));
  if (arguments.output.elements() == 0) return {};
  with_type(CroppedTypes{}, arguments.pixels.dtype(),
            [&]<class T>(std::type_identity<T>) { crop_boxes<T>(arguments, device.pool()); });
  return {};
}

// ---- The gradient by the images

/// For each row of the images, which rows of crops were taken from it, and with what weights.
Taps rows_of_images(const CropArguments& arguments) {
  Taps taps;
  for (int64_t i = 0; i < arguments.boxes.shape()[0]; ++i) {
    const CropBox box = CropBoxes(arguments)[static_cast<size_t>(i)];
    for (int64_t y = 0; y < arguments.rows; ++y) {
      if (const float position = box.y.at(y); box.y.holds(position)) {
        const Between place = box.y.place(position, arguments.nearest);
        taps.add(box.image * arguments.height + place.lower, 1 - place.part);
        if (place.part != 0) taps.add(box.image * arguments.height + place.upper, place.part);
      }
      taps.end_pixel();
    }
  }
  return transposed(taps, arguments.batch * arguments.height);
}

/// Adds a row of the gradient of a crop to the pixels that it was taken from.
template <class Sum>
void scatter_row(const float* from, const CropColumns& columns, float weight, Sum* sums) {
  const int64_t channels = columns.places.channels;
  from += columns.first * channels;
  for (const Between& x : columns.places.pixels)
    for (int64_t c = 0; c < channels; ++c) {
      const float gradient = weight * *from++;
      sums[x.lower + c] += static_cast<Sum>((1 - x.part) * gradient);
      sums[x.upper + c] += static_cast<Sum>(x.part * gradient);
    }
}

template <class T>
void sum_crops(const CropArguments& arguments, Pool& pool) {
  using Sum = ComputeType<T>;
  const Taps taps = rows_of_images(arguments);
  std::vector<CropColumns> columns;
  for (int64_t i = 0; i < arguments.boxes.shape()[0]; ++i)
    columns.push_back(columns_of(arguments, CropBoxes(arguments)[static_cast<size_t>(i)]));
  const auto row = static_cast<size_t>(arguments.width * arguments.channels);
  const auto crop_row_size = static_cast<size_t>(arguments.columns * arguments.channels);
  const float* const grads = arguments.pixels.as<float>().data();
  T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
  const size_t cost = row * sizeof(T) + 8 * crop_row_size * (taps.pixels.size() / taps.size() + 1);
  parallel_rows(pool, taps.size(), cost, [&](size_t begin, size_t end) {
    std::vector<Sum> sums(row);
    for (size_t r = begin; r < end; ++r) {
      std::ranges::fill(sums, Sum{0});
      for (size_t tap = taps.ends[r]; tap < taps.ends[r + 1]; ++tap) {
        const auto from = static_cast<size_t>(taps.pixels[tap]);
        scatter_row(grads + from * crop_row_size, columns[from / static_cast<size_t>(arguments.rows)],
                    taps.weights[tap], sums.data());
      }
      std::ranges::transform(sums, to + r * row, [](Sum sum) { return static_cast<T>(sum); });
    }
  });
}

Status compute_image_gradient(const CropArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_elements(arguments));
  if (arguments.output.elements() == 0) return {};
  with_type(CropGradientTypes{}, arguments.output.dtype(),
            [&]<class T>(std::type_identity<T>) { sum_crops<T>(arguments, device.pool()); });
  return {};
}

// ---- The gradient by the boxes

/// The slopes of an interpolated pixel along both dimensions, times its gradient, summed over the channels.
struct Slopes {
  float y = 0, x = 0;
};
template <class T>
Slopes slopes(const T* top, const T* bottom, const Between& x, float part, const float* grads,
              int64_t channels) {
  Slopes sum;
  for (int64_t c = 0; c < channels; ++c) {
    const auto at = [&](const T* row, int64_t i) { return static_cast<float>(row[i + c]); };
    const FourPixels pixels{at(top, x.lower), at(top, x.upper), at(bottom, x.lower), at(bottom, x.upper)};
    sum.y += pixels.slope_y(x.part) * grads[c];
    sum.x += pixels.slope_x(part) * grads[c];
  }
  return sum;
}

template <class T>
void box_gradient(const CropArguments& arguments, int64_t i, float* to) {
  const CropBox box = CropBoxes(arguments)[static_cast<size_t>(i)];
  const CropColumns columns = columns_of(arguments, box);
  const int64_t channels = arguments.channels, row = arguments.width * channels;
  const T* const image =
      reinterpret_cast<const T*>(arguments.image->data()) + box.image * arguments.height * row;
  const float* grads = arguments.pixels.as<float>().data() +
                       (i * arguments.rows * arguments.columns + columns.first) * channels;
  std::fill_n(to, 4, 0.0F);
  for (int64_t y = 0; y < arguments.rows; ++y, grads += arguments.columns * channels) {
    const float position = box.y.at(y);
    if (!box.y.holds(position)) continue;
    const Between place = box.y.place(position, false);
    const CropMoves down = CropMoves::of(box.y, y);
    for (size_t k = 0; k < columns.places.pixels.size(); ++k) {
      const Slopes sum =
          slopes(image + place.lower * row, image + place.upper * row, columns.places.pixels[k], place.part,
                 grads + static_cast<int64_t>(k) * channels, channels);
      const CropMoves across = CropMoves::of(box.x, columns.first + static_cast<int64_t>(k));
      to[0] += sum.y * down.begin;
      to[1] += sum.x * across.begin;
      to[2] += sum.y * down.end;
      to[3] += sum.x * across.end;
    }
  }
}

Status compute_boxes_gradient(const CropArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_elements(arguments));
  float* const to = arguments.output.write<float>().data();
  const auto cost = static_cast<size_t>(arguments.rows * arguments.columns * arguments.channels) * 16;
  with_type(CroppedTypes{}, arguments.image->dtype(), [&]<class T>(std::type_identity<T>) {
    parallel_rows(device.pool(), static_cast<size_t>(arguments.boxes.shape()[0]), cost,
                  [&](size_t begin, size_t end) {
                    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i)
                      box_gradient<T>(arguments, i, to + 4 * i);
                  });
  });
  return {};
}

void crop_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output image = context.input(0), boxes = context.input(1), numbers = context.input(2);
  const DType dtype = scope.dtype(image);
  if (dtype == DType::Float || dtype == DType::Half || dtype == DType::Double)
    context.set(0, scope.add_one("CropAndResizeGradImage",
                                 {context.gradient(), boxes, numbers, shape_of(scope, image)},
                                 {{"T", dtype}, {"method", context.attr<std::string>("method")}}));
  context.set(1, scope.add_one("CropAndResizeGradBoxes", {context.gradient(), image, boxes, numbers}));
}

// ---- Shapes

/// Checks boxes and box_ind, inputs i and i + 1; returns the number of boxes.
Result<int64_t> box_count(const ShapeContext& context, size_t i) {
  TROUPE_ASSIGN(const auto boxes, context.with_rank(i, 2));
  TROUPE_ASSIGN(const auto numbers, context.with_rank(i + 1, 1));
  TROUPE_ASSIGN(const auto merged, merge(boxes, PartialShape{numbers[0], 4}));
  return merged[0];
}

Status crop_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto image, context.with_rank(0, 4));
  TROUPE_ASSIGN(const int64_t boxes, box_count(context, 1));
  TROUPE_ASSIGN(auto shape, sized_images(context, 3, boxes, image[3]));
  context.set_output(0, std::move(shape));
  return {};
}

Status image_gradient_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 4).status());
  TROUPE_RETURN_IF_FAILED(box_count(context, 1).status());
  TROUPE_ASSIGN(const auto image, shape_from_input(context, 3));
  TROUPE_ASSIGN(auto shape, merge(image, PartialShape::of_rank(4)));
  context.set_output(0, std::move(shape));
  return {};
}

Status boxes_gradient_shape(ShapeContext& context) {
  for (const size_t i : {0, 1}) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 4).status());
  TROUPE_ASSIGN(const int64_t boxes, box_count(context, 2));
  context.set_output(0, PartialShape{boxes, 4});
  return {};
}

}  // namespace

Result<CropArguments> check_crop(KernelContext& context) {
  const Tensor &image = context.input(0), &boxes = context.input(1), &numbers = context.input(2);
  const auto dims = image.shape().dims();
  TROUPE_RETURN_IF_FAILED(check_crop_image(dims, "image"));
  TROUPE_RETURN_IF_FAILED(check_boxes(boxes.shape(), numbers.shape()));
  TROUPE_ASSIGN(const Dims size, positive_size(context.input(3), "crop_size"));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{boxes.shape()[0], size[0], size[1], dims[3]}, DType::Float));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const auto& attrs = context.node().attrs;
  return CropArguments{image,
                       nullptr,
                       boxes,
                       numbers,
                       *output,
                       dims[0],
                       dims[1],
                       dims[2],
                       size[0],
                       size[1],
                       dims[3],
                       attrs.get<std::string>("method") == "nearest",
                       attrs.get<float>("extrapolation_value")};
}

Result<CropArguments> check_crop_image_gradient(KernelContext& context) {
  const Tensor &grads = context.input(0), &boxes = context.input(1), &numbers = context.input(2);
  TROUPE_RETURN_IF_FAILED(check_boxes(boxes.shape(), numbers.shape()));
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(3), "image_size"));
  TROUPE_RETURN_IF_FAILED(check_crop_gradient(grads.shape(), boxes.shape(), {dims.data(), dims.size()}));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const auto crops = grads.shape().dims();
  return CropArguments{grads,    nullptr, boxes,
                       numbers,  *output, dims[0],
                       dims[1],  dims[2], crops[1],
                       crops[2], dims[3], context.node().attrs.get<std::string>("method") == "nearest"};
}

Result<CropArguments> check_crop_boxes_gradient(KernelContext& context) {
  const Tensor &grads = context.input(0), &image = context.input(1), &boxes = context.input(2),
               &numbers = context.input(3);
  TROUPE_RETURN_IF_FAILED(check_boxes(boxes.shape(), numbers.shape()));
  const auto dims = image.shape().dims();
  TROUPE_RETURN_IF_FAILED(check_crop_gradient(grads.shape(), boxes.shape(), dims));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, boxes.shape()));
  const auto crops = grads.shape().dims();
  return CropArguments{grads,   &image,  boxes,    numbers,  *output, dims[0],
                       dims[1], dims[2], crops[1], crops[2], dims[3], false};
}

void add_crop_and_resize_ops(OpLibrary& library) {
  library.op(
      OpDefBuilder("CropAndResize")
          .input("image: T")
          .input("boxes: float")
          .input("box_ind: int32")
          .host_input("crop_size: int32")
          .output("crops: float")
          .attr(cropped_types)
          .attr("method: {'bilinear', 'nearest'} = 'bilinear'")
          .attr("extrapolation_value: float = 0")
          .constructor("crop_and_resize(image, boxes, box_ind, crop_size, method, extrapolation_value)")
          .shape(crop_shape)
          .gradient(crop_gradient));
  library.op(OpDefBuilder("CropAndResizeGradImage")
                 .input("grads: float")
                 .input("boxes: float")
                 .input("box_ind: int32")
                 .host_input("image_size: int32")
                 .output("output: T")
                 .attr("T: {float, half, double}")
                 .attr("method: {'bilinear', 'nearest'} = 'bilinear'")
                 .shape(image_gradient_shape));
  library.op(OpDefBuilder("CropAndResizeGradBoxes")
                 .input("grads: float")
                 .input("image: T")
                 .input("boxes: float")
                 .input("box_ind: int32")
                 .output("output: float")
                 .attr(cropped_types)
                 .attr("method: {'bilinear'} = 'bilinear'")
                 .shape(boxes_gradient_shape));
  library.kernel(cpu_kernel("CropAndResize", check_crop, compute_crop));
  library.kernel(cpu_kernel("CropAndResizeGradImage", check_crop_image_gradient, compute_image_gradient));
  library.kernel(cpu_kernel("CropAndResizeGradBoxes", check_crop_boxes_gradient, compute_boxes_gradient));
}

}  // namespace troupe

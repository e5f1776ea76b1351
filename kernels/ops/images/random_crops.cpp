// Random parts of images.
//   RandomCrop(image, size)   a part of this height and width of an image [height, width, channels], each with equal probability
//   SampleDistortedBoundingBox(image_size, bounding_boxes), with attribute min_object_covered,
//   SampleDistortedBoundingBoxV2(image_size, bounding_boxes, min_object_covered)
//       a random rectangle of the image: begin and size as Slice takes them, and the rectangle as a box. image_size is [height,
//       width, channels]; boxes are [y1, x1, y2, x2] in units of the height and width. The rectangle has an area in area_range,
//       a width divided by its height in aspect_ratio_range, and covers of one box at least the part min_object_covered. After
//       max_attempts that do not, it is the whole image.
// Attempt i draws the numbers of element i (Draws, kernels/ops/random/generator.h); RandomCrop draws those of element 0.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/images/resize.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

/// Returns a number in [0, limit).
int64_t below(Draws& draws, int64_t limit) {
  return std::min(static_cast<int64_t>(draws.uniform() * static_cast<double>(limit)), limit - 1);
}

// ---- RandomCrop

struct CropOut {
  const Tensor& image;
  Tensor& output;
  int64_t y, x;  ///< where the crop begins
};

Status random_crop_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto image, context.with_rank(0, 3));
  TROUPE_ASSIGN(const auto sized, sized_images(context, 1, 1, image[2]));
  context.set_output(0, PartialShape{sized[1], sized[2], image[2]});
  return {};
}

Result<CropOut> check_random_crop(KernelContext& context) {
  const Tensor& image = context.input(0);
  TROUPE_ASSIGN(const Dims size, integer_vector(context.input(1), "size"));
  const Shape& shape = image.shape();
  if (shape.rank() != 3 || size.size() != 2)
    return invalid_argument("image of shape " + shape.text() + " and size " +
                            text_of({size.data(), size.size()}) +
                            " must be [height,width,channels] and a height and a width");
  for (const size_t i : {0, 1})
    if (size[i] < 0 || size[i] > shape[i])
      return invalid_argument("size " + text_of({size.data(), size.size()}) +
                              " is not inside of image of shape " + shape.text());
  TROUPE_ASSIGN(const Shape crop, Shape::make(std::array{size[0], size[1], shape[2]}, image.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, crop));
  const Philox philox = generator_of(context);
  Draws draws(philox, 0);
  const int64_t y = below(draws, shape[0] - size[0] + 1);
  return CropOut{image, *output, y, below(draws, shape[1] - size[1] + 1)};
}

void compute_random_crop(const CropOut& arguments, DeviceContext&) {
  const Shape &image = arguments.image.shape(), &crop = arguments.output.shape();
  const size_t pixel = static_cast<size_t>(image[2]) * size_of(arguments.image.dtype());
  const size_t row = pixel * static_cast<size_t>(crop[1]);
  if (row == 0) return;
  for (int64_t i = 0; i < crop[0]; ++i)
    std::memcpy(
        arguments.output.mutable_data() + static_cast<size_t>(i) * row,
        arguments.image.data() + static_cast<size_t>((arguments.y + i) * image[1] + arguments.x) * pixel,
        row);
}

// ---- SampleDistortedBoundingBox

/// A rectangle in pixels; the ends are beyond it.
struct Rectangle {
  int64_t top = 0, left = 0, bottom = 0, right = 0;

  int64_t height() const { return bottom - top; }
  int64_t width() const { return right - left; }
  double area() const { return static_cast<double>(height()) * static_cast<double>(width()); }
  double shared_area(const Rectangle& other) const {
    const Rectangle shared{std::max(top, other.top), std::max(left, other.left),
                           std::min(bottom, other.bottom), std::min(right, other.right)};
    return shared.top > shared.bottom || shared.left > shared.right ? 0 : shared.area();
  }
};

struct SampleRules {
  float least_covered;
  float least_aspect, most_aspect;
  float least_area, most_area;
  int64_t attempts;
};

Result<std::pair<float, float>> range_attr(const Node& node, const char* name, float most) {
  const auto& values = node.attrs.get<std::vector<float>>(name);
  const auto allowed = [&](float value) { return value > 0 && value <= most; };
  if (values.size() == 2 && std::ranges::all_of(values, allowed)) return std::pair{values[0], values[1]};
  std::string text;
  for (const float value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return invalid_argument(std::string(name) + " is [" + text + "], expected two numbers above 0" +
                          (most <= 1 ? " and at most 1" : ""));
}

constexpr int64_t most_attempts = 1'000'000;

Result<SampleRules> rules_of(const Node& node, float least_covered) {
  TROUPE_ASSIGN(const auto aspect, range_attr(node, "aspect_ratio_range", std::numeric_limits<float>::max()));
  TROUPE_ASSIGN(const auto area, range_attr(node, "area_range", 1));
  const auto attempts = node.attrs.get<int64_t>("max_attempts");
  if (attempts <= 0 || attempts > most_attempts)
    return invalid_argument("max_attempts is " + std::to_string(attempts) + ", allowed are 1 to " +
                            std::to_string(most_attempts));
  if (!(least_covered >= 0))
    return invalid_argument("min_object_covered is " + std::to_string(least_covered) +
                            ", it must not be negative");
  return SampleRules{least_covered, aspect.first, aspect.second, area.first, area.second, attempts};
}

/// Returns a rectangle of an image whose width is `aspect` times its height, both rounded: empty if there is none of an allowed
/// area.
Rectangle random_rectangle(const SampleRules& rules, const Rectangle& image, double aspect, Draws& draws) {
  const double least = double{rules.least_area} * image.area(), most = double{rules.most_area} * image.area();
  if (image.area() <= 0 || least > most) return {};
  const auto height_of = [&](double area) { return std::llrint(std::sqrt(area / aspect)); };
  const auto width_of = [&](int64_t height) { return std::llrint(static_cast<double>(height) * aspect); };
  int64_t limit = std::min<int64_t>(height_of(most), image.height());
  if (width_of(limit) > image.width())
    limit = static_cast<int64_t>((static_cast<double>(image.width()) + 0.5 - 1e-7) / aspect);
  int64_t height = std::min<int64_t>(height_of(least), limit);
  height += below(draws, limit - height + 1);
  const auto area = [&] { return static_cast<double>(height) * static_cast<double>(width_of(height)); };
  if (area() < least) ++height;  // which rounding may have made too small
  if (area() > most) --height;
  const int64_t width = width_of(height);
  if (area() < least || area() > most || width > image.width() || height > image.height() || width <= 0 ||
      height <= 0)
    return {};
  const int64_t top = below(draws, image.height() - height + 1),
                left = below(draws, image.width() - width + 1);
  return {top, left, top + height, left + width};
}

bool covers(const Rectangle& rectangle, const std::vector<Rectangle>& boxes, float least) {
  return rectangle.area() >= 1 && std::ranges::any_of(boxes, [&](const Rectangle& box) {
           return box.area() >= 1 && rectangle.shared_area(box) >= double{least} * box.area();
         });
}

Rectangle sample(const SampleRules& rules, const Rectangle& image, const std::vector<Rectangle>& boxes,
                 const Philox& philox) {
  for (int64_t i = 0; i < rules.attempts; ++i) {
    Draws draws(philox, static_cast<uint64_t>(i));
    const double aspect = double{rules.least_aspect} +
                          draws.uniform() * (double{rules.most_aspect} - double{rules.least_aspect});
    const Rectangle rectangle = random_rectangle(rules, image, aspect, draws);
    if (covers(rectangle, boxes, rules.least_covered)) return rectangle;
  }
  return image;
}

Result<Rectangle> image_rectangle(const Tensor& size) {
  if (size.shape().rank() != 1 || size.elements() != 3)
    return invalid_argument("image_size of shape " + size.shape().text() +
                            " must be [3]: height, width and channels");
  int64_t dims[3] = {};
  with_type(IntegerTypes{}, size.dtype(),
            [&]<class T>(std::type_identity<T>) { std::ranges::copy(size.as<T>(), dims); });
  const int64_t height = dims[0], width = dims[1];
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (height < 0 || width < 0 || height >= most || width >= most)
    return invalid_argument("image_size has height " + std::to_string(height) + " and width " +
                            std::to_string(width) + ", allowed are 0 to " + std::to_string(most - 1));
  return Rectangle{0, 0, height, width};
}

Result<std::vector<Rectangle>> read_boxes(const Tensor& boxes, const Rectangle& image, bool image_if_none) {
  const Shape& shape = boxes.shape();
  if (shape.rank() != 3 || shape[2] != 4)
    return invalid_argument("bounding_boxes of shape " + shape.text() + " must have shape [batch,n,4]");
  std::vector<Rectangle> result;
  const auto values = boxes.as<float>();
  for (size_t i = 0; i < values.size(); ++i)
    if (!(values[i] >= 0 && values[i] <= 1))
      return invalid_argument(element_name("bounding_boxes", shape, static_cast<int64_t>(i)) + " = " +
                              std::to_string(values[i]) + " is not in [0, 1]");
  const auto pixel = [](float part, int64_t size) {
    return static_cast<int64_t>(part * static_cast<float>(size));
  };
  for (size_t i = 0; i < values.size(); i += 4)
    result.push_back({pixel(values[i], image.bottom), pixel(values[i + 1], image.right),
                      pixel(values[i + 2], image.bottom), pixel(values[i + 3], image.right)});
  if (!result.empty()) return result;
  if (!image_if_none)
    return invalid_argument("there is no bounding box, and use_image_if_no_bounding_boxes is false");
  return std::vector{image};
}

Status write_sample(KernelContext& context, const Rectangle& rectangle, const Rectangle& image) {
  TROUPE_ASSIGN(Tensor* const begin, context.output(0, Shape{3}));
  TROUPE_ASSIGN(Tensor* const size, context.output(1, Shape{3}));
  TROUPE_ASSIGN(Tensor* const box, context.output(2, Shape{1, 1, 4}));
  with_type(IntegerTypes{}, begin->dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::copy(std::array{static_cast<T>(rectangle.top), static_cast<T>(rectangle.left), T{0}},
                      begin->write<T>().begin());
    std::ranges::copy(
        std::array{static_cast<T>(rectangle.height()), static_cast<T>(rectangle.width()), static_cast<T>(-1)},
        size->write<T>().begin());
  });
  const auto part = [](int64_t pixel, int64_t pixels) {
    return static_cast<float>(pixel) / static_cast<float>(pixels);
  };
  std::ranges::copy(std::array{part(rectangle.top, image.bottom), part(rectangle.left, image.right),
                               part(rectangle.bottom, image.bottom), part(rectangle.right, image.right)},
                    box->write<float>().begin());
  return {};
}

Status sample_box(KernelContext& context) {
  const Node& node = context.node();
  if (context.inputs() == 3 && !context.input(2).shape().is_scalar())
    return invalid_argument("min_object_covered of shape " + context.input(2).shape().text() +
                            " must be a scalar");
  TROUPE_ASSIGN(const SampleRules rules,
                rules_of(node, context.inputs() == 3 ? context.input(2).as<float>()[0]
                                                     : node.attrs.get<float>("min_object_covered")));
  TROUPE_ASSIGN(const Rectangle image, image_rectangle(context.input(0)));
  TROUPE_ASSIGN(const auto boxes,
                read_boxes(context.input(1), image, node.attrs.get<bool>("use_image_if_no_bounding_boxes")));
  return write_sample(context, sample(rules, image, boxes, generator_of(context)), image);
}

Status sample_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 1).status());
  TROUPE_RETURN_IF_FAILED(merge(context.input(0), PartialShape{3}).status());
  TROUPE_ASSIGN(const auto boxes, context.with_rank(1, 3));
  TROUPE_RETURN_IF_FAILED(merge(boxes, PartialShape{unknown_dim, unknown_dim, 4}).status());
  if (context.inputs() == 3) TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  context.set_output(0, PartialShape{3});
  context.set_output(1, PartialShape{3});
  context.set_output(2, PartialShape{1, 1, 4});
  return {};
}

OpDefBuilder sample_op(const char* name) {
  return random_op(name)
      .host_input("image_size: T")
      .host_input("bounding_boxes: float")
      .host_output("begin: T")
      .host_output("size: T")
      .host_output("bboxes: float")
      .attr("T: {uint8, int8, int16, int32, int64}")
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false")
      .shape(sample_shape)
      .not_differentiable();
}

}  // namespace

void add_random_crop_ops(OpLibrary& library) {
  library.op(random_op("RandomCrop")
                 .input("image: T")
                 .host_input("size: int64")
                 .output("output: T")
                 .attr("T: {uint8, int8, int16, int32, int64, float, double}")
                 .constructor("random_crop(image, size, seed, seed2)")
                 .shape(random_crop_shape)
                 .not_differentiable());
  library.op(sample_op("SampleDistortedBoundingBox").attr("min_object_covered: float = 0.1"));
  library.op(sample_op("SampleDistortedBoundingBoxV2").host_input("min_object_covered: float"));
  library.kernel(cpu_kernel("RandomCrop", check_random_crop, compute_random_crop));
  for (const char* op : {"SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"})
    library.kernel(host_kernel(op, sample_box));
}

}  // namespace troupe

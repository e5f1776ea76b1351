// The outlines of boxes, one pixel wide, drawn on images [batch, height, width, channels] of 1, 3 or 4 channels. boxes is
// [batch, n, 4], each [y1, x1, y2, x2] in units of the height and width less one pixel. A box that is outside of the image or whose
// corners are exchanged is left out.
//   DrawBoundingBoxes(images, boxes)             in ten colours in turn
//   DrawBoundingBoxesV2(images, boxes, colors)   in the colours [k, channels or more] in turn; none: the ten colours
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

constexpr float ten_colors[10][4] = {{1, 1, 0, 1},       {0, 0, 1, 1},       {1, 0, 0, 1},    {0, 1, 0, 1},
                                     {0.5F, 0, 0.5F, 1}, {0.5F, 0.5F, 0, 1}, {0.5F, 0, 0, 1}, {0, 0, 0.5F, 1},
                                     {0, 1, 1, 1},       {1, 0, 1, 1}};

struct DrawArguments {
  const Tensor& images;
  const Tensor& boxes;
  const Tensor* colors;  ///< null: the ten colours
  Tensor& output;
};

Status check_drawing(const PartialShape& images, const PartialShape& boxes, const PartialShape* colors) {
  const int64_t depth = images[3];
  if (depth != unknown_dim && depth != 1 && depth != 3 && depth != 4)
    return invalid_argument("images of shape " + images.text() + " must have 1, 3 or 4 channels");
  if (!merge(boxes, PartialShape{images[0], unknown_dim, 4}).ok())
    return invalid_argument("boxes of shape " + boxes.text() +
                            " must have shape [n,?,4] for images of shape " + images.text());
  if (!colors || !colors->known_rank()) return {};
  const bool enough = colors->rank() == 2 && ((*colors)[1] == unknown_dim || (*colors)[1] >= depth);
  if (enough) return {};
  return invalid_argument("colors of shape " + colors->text() +
                          " must be a matrix with a column for each of " + std::to_string(depth) +
                          " channels");
}

Status drawing_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto images, context.with_rank(0, 4));
  TROUPE_ASSIGN(const auto boxes, context.with_rank(1, 3));
  TROUPE_RETURN_IF_FAILED(check_drawing(images, boxes, context.inputs() == 3 ? &context.input(2) : nullptr));
  context.set_output(0, images);
  return {};
}

Result<DrawArguments> check_draw(KernelContext& context) {
  const Tensor &images = context.input(0), &boxes = context.input(1);
  const Tensor* const colors = context.inputs() == 3 ? &context.input(2) : nullptr;
  if (images.shape().rank() != 4 || boxes.shape().rank() != 3)
    return invalid_argument("images of shape " + images.shape().text() + " and boxes of shape " +
                            boxes.shape().text() + " must have ranks 4 and 3");
  const PartialShape color_shape = colors ? PartialShape(colors->shape()) : PartialShape();
  TROUPE_RETURN_IF_FAILED(check_drawing(images.shape(), boxes.shape(), colors ? &color_shape : nullptr));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, images.shape()));
  return DrawArguments{images, boxes, colors && colors->elements() != 0 ? colors : nullptr, *output};
}

/// The pixel at a part of a dimension; what is no number is before the first.
int64_t pixel_at(float part, int64_t pixels) {
  constexpr float far = 1e9F;
  const float place = part * static_cast<float>(pixels - 1);
  return std::isnan(place) ? std::numeric_limits<int64_t>::min()
                           : static_cast<int64_t>(std::clamp(place, -far, far + static_cast<float>(pixels)));
}

/// An image on which boxes are drawn.
template <class T>
struct Canvas {
  T* pixels;
  int64_t height, width, depth;

  /// Colours the pixels of a rectangle, ends included, as far as they are in the image.
  void fill(int64_t top, int64_t left, int64_t bottom, int64_t right, const float* color) const {
    for (int64_t y = std::max<int64_t>(top, 0); y <= std::min(bottom, height - 1); ++y)
      for (int64_t x = std::max<int64_t>(left, 0); x <= std::min(right, width - 1); ++x)
        for (int64_t c = 0; c < depth; ++c) pixels[(y * width + x) * depth + c] = static_cast<T>(color[c]);
  }
  void draw(const float* box, const float* color) const {
    const int64_t top = pixel_at(box[0], height), left = pixel_at(box[1], width);
    const int64_t bottom = pixel_at(box[2], height), right = pixel_at(box[3], width);
    if (top > bottom || left > right) return;
    fill(top, left, top, right, color);
    fill(bottom, left, bottom, right, color);
    fill(top, left, bottom, left, color);
    fill(top, right, bottom, right, color);
  }
};

/// Returns colour number i. On images of one channel each of the ten colours is 1.
const float* color_of(const DrawArguments& arguments, int64_t i, int64_t depth) {
  if (arguments.colors) {
    const Shape& shape = arguments.colors->shape();
    return arguments.colors->as<float>().data() + i % shape[0] * shape[1];
  }
  return ten_colors[depth == 1 ? 0 : i % 10];
}

void compute_draw(const DrawArguments& arguments, DeviceContext& device) {
  const auto dims = arguments.images.shape().dims();
  if (arguments.images.elements() == 0) return;
  const int64_t boxes = arguments.boxes.shape()[1], image = dims[1] * dims[2] * dims[3];
  const float* const box = arguments.boxes.as<float>().data();
  with_type(TypeList<float, Half>{}, arguments.images.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const from = arguments.images.as<T>().data();
    T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
    parallel_rows(device.pool(), static_cast<size_t>(dims[0]), static_cast<size_t>(image) * 2 * sizeof(T),
                  [&](size_t begin, size_t end) {
                    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
                      std::copy_n(from + i * image, image, to + i * image);
                      const Canvas<T> canvas{to + i * image, dims[1], dims[2], dims[3]};
                      for (int64_t k = 0; k < boxes; ++k)
                        canvas.draw(box + (i * boxes + k) * 4, color_of(arguments, k, dims[3]));
                    }
                  });
  });
}

}  // namespace

void add_draw_bounding_boxes_ops(OpLibrary& library) {
  const auto drawing = [](const char* name) {
    return OpDefBuilder(name)
        .input("images: T")
        .input("boxes: float")
        .output("output: T")
        .attr("T: {float, half} = float")
        .shape(drawing_shape);
  };
  library.op(
      drawing("DrawBoundingBoxes").constructor("draw_bounding_boxes(images, boxes)").not_differentiable());
  library.op(drawing("DrawBoundingBoxesV2").input("colors: float"));
  for (const char* op : {"DrawBoundingBoxes", "DrawBoundingBoxesV2"})
    library.kernel(cpu_kernel(op, check_draw, compute_draw));
}

}  // namespace troupe

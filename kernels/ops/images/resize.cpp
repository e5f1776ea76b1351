#include "kernels/ops/images/resize.h"

#include <limits>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"

namespace troupe {
namespace {

constexpr int64_t most_pixels = std::numeric_limits<int32_t>::max() - 1;  // of a dimension

bool flag(const Node& node, std::string_view name) {
  const AttrValue* const value = node.attrs.find(name);  // ResizeArea knows no half_pixel_centers
  return value && std::get<bool>(*value);
}

Status check_flags(const Node& node) {
  if (!flag(node, "align_corners") || !flag(node, "half_pixel_centers")) return {};
  return invalid_argument("half_pixel_centers and align_corners exclude each other");
}

Status check_images(const Shape& shape, std::string_view name) {
  if (shape.rank() != 4)
    return invalid_argument(std::string(name) + " of shape " + shape.text() +
                            " must have rank 4: [batch, height, width, channels]");
  if (shape[1] > most_pixels || shape[2] > most_pixels)
    return invalid_argument(std::string(name) + " of shape " + shape.text() + " has more than " +
                            std::to_string(most_pixels) + " pixels in a dimension");
  return {};
}

Status check_pixels(const Shape& shape, std::string_view name) {
  TROUPE_RETURN_IF_FAILED(check_images(shape, name));
  if (shape[1] == 0 || shape[2] == 0 || shape[3] == 0)
    return invalid_argument(std::string(name) + " of shape " + shape.text() +
                            " must have pixels and channels");
  return {};
}

Result<ResizeArguments> allocate(KernelContext& context, const Dims& dims, Sampling rows, Sampling columns) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ResizeArguments{context.input(0), *output, rows, columns};
}

/// The output has the batch and channels of input 0 and this many pixels.
Result<ResizeArguments> allocate_gradient(KernelContext& context, int64_t height, int64_t width) {
  const Shape& resized = context.input(0).shape();
  const Node& node = context.node();
  return allocate(context, {resized[0], height, width, resized[3]}, Sampling(height, resized[1], node),
                  Sampling(width, resized[2], node));
}

}  // namespace

Sampling::Sampling(int64_t original_pixels, int64_t resized_pixels, const Node& node)
    : original(original_pixels), resized(resized_pixels), aligned(flag(node, "align_corners")),
      half_pixel(flag(node, "half_pixel_centers")) {
  step = aligned && resized > 1 ? static_cast<float>(original - 1) / static_cast<float>(resized - 1)
                                : static_cast<float>(original) / static_cast<float>(resized);
}

int64_t Sampling::nearest(int64_t pixel) const {
  const float place = (static_cast<float>(pixel) + (half_pixel ? 0.5F : 0.0F)) * step;
  return inside(static_cast<int64_t>(aligned ? std::round(place) : std::floor(place)));
}

Result<Dims> positive_size(const Tensor& size, std::string_view name) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(size, name));
  if (dims.size() == 2 && dims[0] > 0 && dims[1] > 0) return dims;
  return invalid_argument(std::string(name) + " is " + text_of({dims.data(), dims.size()}) +
                          ", expected a positive height and width");
}

Result<ResizeArguments> check_resize(KernelContext& context) {
  const Node& node = context.node();
  const Shape& images = context.input(0).shape();
  TROUPE_RETURN_IF_FAILED(check_flags(node));
  TROUPE_RETURN_IF_FAILED(check_pixels(images, "images"));
  TROUPE_ASSIGN(const Dims size, positive_size(context.input(1), "size"));
  return allocate(context, {images[0], size[0], size[1], images[3]}, Sampling(images[1], size[0], node),
                  Sampling(images[2], size[1], node));
}

Result<ResizeArguments> check_resize_gradient_to_size(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_images(context.input(0).shape(), "grads"));
  TROUPE_ASSIGN(const Dims size, positive_size(context.input(1), "size"));
  return allocate_gradient(context, size[0], size[1]);
}

Result<ResizeArguments> check_resize_gradient(KernelContext& context) {
  const Shape &grads = context.input(0).shape(), &original = context.input(1).shape();
  TROUPE_RETURN_IF_FAILED(check_flags(context.node()));
  TROUPE_RETURN_IF_FAILED(check_pixels(grads, "grads"));
  TROUPE_RETURN_IF_FAILED(check_pixels(original, "original_image"));
  if (grads[0] != original[0] || grads[3] != original[3])
    return invalid_argument("grads of shape " + grads.text() + " and original_image of shape " +
                            original.text() + " must have one batch size and one number of channels");
  return allocate_gradient(context, original[1], original[2]);
}

Result<PartialShape> sized_images(const ShapeContext& context, size_t i, int64_t batch, int64_t channels) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  TROUPE_RETURN_IF_FAILED(merge(context.input(i), PartialShape{2}).status());
  PartialShape result{batch, unknown_dim, unknown_dim, channels};
  if (const auto size = context.partial_integers(i)) {
    for (const int64_t dim : *size)
      if (dim < unknown_dim)
        return invalid_argument("the size " + text_of(*size) + " has a negative element");
    result = PartialShape{batch, (*size)[0], (*size)[1], channels};
  }
  return result;
}

Status resize_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto images, context.with_rank(0, 4));
  TROUPE_ASSIGN(auto shape, sized_images(context, 1, images[0], images[3]));
  context.set_output(0, std::move(shape));
  return {};
}

Status resize_gradient_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 4).status());
  TROUPE_ASSIGN(const auto original, context.with_rank(1, 4));
  context.set_output(0, original);
  return {};
}

OpDefBuilder resize_op(const char* name, const std::string& output) {
  return OpDefBuilder(name)
      .input("images: T")
      .host_input("size: int32")
      .output("resized_images: " + output)
      .attr(resized_types)
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(resize_shape);
}

OpDefBuilder resize_gradient_op(const char* name, const char* types) {
  return OpDefBuilder(name)
      .input("grads: float")
      .input("original_image: T")
      .output("output: T")
      .attr(types)
      .attr("align_corners: bool = false")
      .attr("half_pixel_centers: bool = false")
      .shape(resize_gradient_shape);
}

void set_second_gradient(GradientContext& context, const char* resize) {
  const Scope& scope = context.scope();
  const auto at = [&](int64_t i) { return integer_constants(scope, std::array{i}); };
  const Output size = slice(scope, shape_of(scope, context.input(0)), at(1), at(2));
  context.set(0, scope.add_one(resize, {context.gradient(), size}, sampling_attrs(context)));
}

Attributes sampling_attrs(const GradientContext& context) {
  return {{"align_corners", context.attr<bool>("align_corners")},
          {"half_pixel_centers", context.attr<bool>("half_pixel_centers")}};
}

}  // namespace troupe

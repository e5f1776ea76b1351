// Projective transforms of images [batch, height, width, channels], such as rotations: pixel (x, y) of an output of `output_shape`,
// [rows, columns], is that of the image at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), where k = c0 x + c1 y + 1.
//   ImageProjectiveTransformV2(images, transforms, output_shape)
//   ImageProjectiveTransformV3(images, transforms, output_shape, fill_value)
//   ImageProjectiveTransformGrad(grads, transforms, image_size)   the gradient by images of this height and width
// A row of transforms, [batch, 8] or [1, 8], is [a0, a1, a2, b0, b1, b2, c0, c1]. Interpolation "NEAREST" takes the nearest pixel,
// "BILINEAR" interpolates between two by two. Beyond its edges the image goes on as fill_mode says (Border); with "CONSTANT" it has
// fill_value there, 0 in V2. So it has where k is 0, and where the position is not a number. The gradient is that of the
// interpolation, and not a transform by the inverse matrices, as in TensorFlow, which is another function. Transforms have no
// gradient.
#include "kernels/ops/images/projective_transform.h"

#include <array>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/images/resize.h"

namespace troupe {
namespace {

using TransformedTypes = TypeList<float, uint8_t, double, Half, BFloat16, int32_t, int64_t>;
using ProjectiveGradientTypes = TypeList<float, double, Half, BFloat16>;

/// The type in which elements of type T are interpolated.
template <class T>
using Interpolated = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Returns the element nearest to zero beside an interpolated number, within the range of T.
template <class T>
T pixel_of(Interpolated<T> value) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<float>(Limits::min())) return Limits::min();
    if (value >= static_cast<float>(Limits::max())) return Limits::max();
  }
  return static_cast<T>(value);
}

/// Calls visit(image, row, column) for pixels [begin, end) of all outputs.
template <class Visit>
void for_pixels(const ProjectiveArguments& arguments, size_t begin, size_t end, const Visit& visit) {
  for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
    const int64_t row = i / arguments.columns;
    visit(row / arguments.rows, row % arguments.rows, i % arguments.columns);
  }
}

template <class T>
void transform(const ProjectiveArguments& arguments, Pool& pool) {
  const int64_t channels = arguments.channels;
  const T* const images = reinterpret_cast<const T*>(arguments.from.data());
  T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
  const Projection projection(arguments);
  const auto fill = static_cast<Interpolated<T>>(arguments.fill);
  const size_t pixels = static_cast<size_t>(arguments.batch * arguments.rows * arguments.columns);
  parallel_items(pool, pixels, static_cast<size_t>(channels) * 8 + 64, [&](size_t begin, size_t end) {
    T* pixel = to + static_cast<int64_t>(begin) * channels;
    for_pixels(arguments, begin, end, [&](int64_t image, int64_t row, int64_t column) {
      const SourcePixels sources = projection(image, row, column);
      const T* const from = images + image * arguments.height * arguments.width * channels;
      if (sources.count == 0) {
        std::fill_n(pixel, channels, pixel_of<T>(fill));
      } else if (sources.count == 1 && sources.numbers[0] >= 0) {
        std::copy_n(from + sources.numbers[0] * channels, channels, pixel);
      } else {
        for (int64_t c = 0; c < channels; ++c)
          pixel[c] = pixel_of<T>(sources.at([&](int64_t number) {
            return number < 0 ? fill : static_cast<Interpolated<T>>(from[number * channels + c]);
          }));
      }
      pixel += channels;
    });
  });
}

void compute_transform(const ProjectiveArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  with_type(TransformedTypes{}, arguments.from.dtype(),
            [&]<class T>(std::type_identity<T>) { transform<T>(arguments, device.pool()); });
}

// ---- The gradient

/// Adds the gradient of each pixel of an output to the pixels from which it was made.
template <class T>
void scatter_image(const ProjectiveArguments& arguments, int64_t image, Interpolated<T>* sums) {
  const int64_t channels = arguments.channels;
  const T* grads = reinterpret_cast<const T*>(arguments.from.data()) +
                   image * arguments.rows * arguments.columns * channels;
  const Projection projection(arguments);
  for (int64_t row = 0; row < arguments.rows; ++row)
    for (int64_t column = 0; column < arguments.columns; ++column, grads += channels)
      projection(image, row, column).each([&](int64_t number, float weight) {
        if (number < 0) return;
        for (int64_t c = 0; c < channels; ++c)
          sums[number * channels + c] += weight * static_cast<Interpolated<T>>(grads[c]);
      });
}

template <class T>
void scatter(const ProjectiveArguments& arguments, Pool& pool) {
  [[maybe_unused]] T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
  const int64_t elements = arguments.height * arguments.width * arguments.channels;
  const auto cost = static_cast<size_t>(arguments.rows * arguments.columns) *
                    (static_cast<size_t>(arguments.channels) * 32 + 64);
  Tensor sums = arguments.sums;  // the same elements
  auto* const all = reinterpret_cast<Interpolated<T>*>(sums.valid() ? sums.mutable_data()
                                                                    : arguments.output.mutable_data());
  parallel_rows(pool, static_cast<size_t>(arguments.batch), cost, [&](size_t begin, size_t end) {
    for (auto image = static_cast<int64_t>(begin); image < static_cast<int64_t>(end); ++image) {
      Interpolated<T>* const of_image = all + image * elements;
      std::fill_n(of_image, elements, Interpolated<T>{0});
      scatter_image<T>(arguments, image, of_image);
      if constexpr (!std::is_same_v<T, Interpolated<T>>)
        std::transform(of_image, of_image + elements, to + image * elements,
                       [](Interpolated<T> sum) { return static_cast<T>(sum); });
    }
  });
}

void compute_projective_gradient(const ProjectiveArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  with_type(ProjectiveGradientTypes{}, arguments.output.dtype(),
            [&]<class T>(std::type_identity<T>) { scatter<T>(arguments, device.pool()); });
}

/// The gradient by the images, and that of ImageProjectiveTransformGrad, which is linear, too: `op` of the gradient.
void transposed_gradient(GradientContext& context, const char* op) {
  const Scope& scope = context.scope();
  const auto at = [&](int64_t i) { return integer_constants(scope, std::array{i}); };
  const Output size = slice(scope, shape_of(scope, context.input(0)), at(1), at(2));
  Attributes attrs;
  for (const char* const attr : {"interpolation", "fill_mode"})
    attrs.set(attr, context.attr<std::string>(attr));
  context.set(0, scope.add_one(op, {context.gradient(), context.input(1), size}, std::move(attrs)));
}
void projective_gradient(GradientContext& context) {
  transposed_gradient(context, "ImageProjectiveTransformGrad");
}
void gradient_of_gradient(GradientContext& context) {
  transposed_gradient(context, "ImageProjectiveTransformV2");
}

// ---- Checks

Status projective_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto images, context.with_rank(0, 4));
  TROUPE_ASSIGN(const auto transforms, context.with_rank(1, 2));
  TROUPE_RETURN_IF_FAILED(merge(transforms, PartialShape{-1, 8}).status());
  TROUPE_ASSIGN(auto shape, sized_images(context, 2, images[0], images[3]));
  context.set_output(0, std::move(shape));
  return {};
}

/// `pixels` are those of the images or, for the gradient, of the outputs; `size` is the height and width of the others.
Result<ProjectiveArguments> check(KernelContext& context, std::string_view pixels, std::string_view size) {
  const Tensor &from = context.input(0), &transforms = context.input(1);
  const auto dims = from.shape().dims();
  if (dims.size() != 4 || dims[1] == 0 || dims[2] == 0)
    return invalid_argument(std::string(pixels) + " of shape " + from.shape().text() +
                            " must be [batch, height, width, channels], with pixels");
  const Shape& rows = transforms.shape();
  if (rows.rank() != 2 || rows[1] != 8 || (rows[0] != 1 && rows[0] != dims[0]))
    return invalid_argument("transforms of shape " + rows.text() + " must be [1,8], or [" +
                            std::to_string(dims[0]) + ",8] for so many images");
  TROUPE_ASSIGN(const Dims to, positive_size(context.input(2), size));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{dims[0], to[0], to[1], dims[3]}, from.dtype()));
  const auto& attrs = context.node().attrs;
  const auto border = attrs.get<std::string>("fill_mode");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ProjectiveArguments{from,
                             transforms,
                             *output,
                             dims[0],
                             dims[1],
                             dims[2],
                             to[0],
                             to[1],
                             dims[3],
                             attrs.get<std::string>("interpolation") == "BILINEAR",
                             border == "REFLECT"   ? Border::Reflect
                             : border == "WRAP"    ? Border::Wrap
                             : border == "NEAREST" ? Border::Nearest
                                                   : Border::Constant,
                             0};
}

OpDefBuilder projective_op(std::string name, const char* input, const char* size, const char* types) {
  return OpDefBuilder(std::move(name))
      .input(std::string(input) + ": dtype")
      .input("transforms: float")
      .host_input(std::string(size) + ": int32")
      .output("output: dtype")
      .attr(types)
      .attr("interpolation: {'NEAREST', 'BILINEAR'}")
      .attr("fill_mode: {'CONSTANT', 'REFLECT', 'WRAP', 'NEAREST'} = 'CONSTANT'")
      .shape(projective_shape);
}

}  // namespace

Result<ProjectiveArguments> check_projective(KernelContext& context) {
  TROUPE_ASSIGN(ProjectiveArguments arguments, check(context, "images", "output_shape"));
  if (context.inputs() < 4) return arguments;
  const Tensor& fill = context.input(3);
  if (!fill.shape().is_scalar())
    return invalid_argument("fill_value of shape " + fill.shape().text() + " must be a scalar");
  arguments.fill = fill.as<float>()[0];
  return arguments;
}

Result<ProjectiveArguments> check_projective_gradient(KernelContext& context) {
  TROUPE_ASSIGN(ProjectiveArguments arguments, check(context, "grads", "image_size"));
  std::swap(arguments.height, arguments.rows);
  std::swap(arguments.width, arguments.columns);
  if (const DType dtype = arguments.output.dtype(); dtype == DType::Half || dtype == DType::BFloat16) {
    TROUPE_ASSIGN(arguments.sums, context.scratch(DType::Float, arguments.output.shape()));
  }
  return arguments;
}

void add_projective_transform_ops(OpLibrary& library) {
  const char* const types = "dtype: {uint8, int32, int64, half, bfloat16, float, double}";
  library.op(projective_op("ImageProjectiveTransformV2", "images", "output_shape", types)
                 .gradient(projective_gradient));
  library.op(projective_op("ImageProjectiveTransformV3", "images", "output_shape", types)
                 .host_input("fill_value: float")
                 .constructor("image_projective_transform(images, transforms, output_shape, interpolation, "
                              "fill_mode, fill_value = 0)")
                 .gradient(projective_gradient));
  library.op(projective_op("ImageProjectiveTransformGrad", "grads", "image_size",
                           "dtype: {half, bfloat16, float, double}")
                 .gradient(gradient_of_gradient));
  library.kernel(cpu_kernel("ImageProjectiveTransformV2", check_projective, compute_transform));
  library.kernel(cpu_kernel("ImageProjectiveTransformV3", check_projective, compute_transform));
  library.kernel(
      cpu_kernel("ImageProjectiveTransformGrad", check_projective_gradient, compute_projective_gradient));
}

}  // namespace troupe

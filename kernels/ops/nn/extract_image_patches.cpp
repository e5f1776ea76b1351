// ExtractImagePatches(images): the patches of ksizes[1] x ksizes[2] pixels that a convolution of images [batch, height, width,
// channels] would see, each as a row: its pixels row by row, with their channels. Pixels of a patch are rates[1] and rates[2]
// apart, patches strides[1] and strides[2]. With padding SAME, zeros beyond the borders; with VALID, only patches inside of the
// image.
#include <algorithm>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

/// How a spatial dimension is cut in patches.
struct Cut {
  int64_t size = 0;  ///< pixels of a patch
  int64_t stride = 0, rate = 0;
  int64_t before = 0;   ///< pixels of padding
  int64_t patches = 0;  ///< -1: unknown
};

/// The elements of a list attribute for the two spatial dimensions.
Result<std::pair<int64_t, int64_t>> spatial_pair(const Node& node, const char* attr) {
  const auto& values = node.attrs.get<std::vector<int64_t>>(attr);
  const bool fits = values.size() == 4 && values[0] == 1 && values[3] == 1 && values[1] > 0 && values[2] > 0;
  if (fits) return std::pair(values[1], values[2]);
  return invalid_argument(std::string(attr) + " is " + text_of(values) +
                          ", expected 1, two positive numbers for height and width, 1");
}

Result<Cut> cut_of(const Node& node, int64_t dim, Cut cut) {
  int64_t extent = 0;
  if (__builtin_mul_overflow(cut.size - 1, cut.rate, &extent) || __builtin_add_overflow(extent, 1, &extent))
    return invalid_argument("patches of " + std::to_string(cut.size) + " pixels at rate " +
                            std::to_string(cut.rate) + " are too large");
  cut.patches = unknown_dim;
  if (dim == unknown_dim) return cut;
  if (node.attrs.get<std::string>("padding") == "VALID") {
    cut.patches = dim < extent ? 0 : (dim - extent) / cut.stride + 1;
    return cut;
  }
  cut.patches = dim == 0 ? 0 : (dim - 1) / cut.stride + 1;
  const int64_t last = std::max<int64_t>(cut.patches - 1, 0) * cut.stride;  // less than dim
  cut.before = std::max<int64_t>(extent - (dim - last), 0) / 2;
  return cut;
}

struct Cuts {
  Cut height, width;
};
Result<Cuts> cuts_of(const Node& node, std::span<const int64_t> images) {
  TROUPE_ASSIGN(const auto sizes, spatial_pair(node, "ksizes"));
  TROUPE_ASSIGN(const auto strides, spatial_pair(node, "strides"));
  TROUPE_ASSIGN(const auto rates, spatial_pair(node, "rates"));
  Cuts cuts;
  TROUPE_ASSIGN(cuts.height, cut_of(node, images[1], {sizes.first, strides.first, rates.first}));
  TROUPE_ASSIGN(cuts.width, cut_of(node, images[2], {sizes.second, strides.second, rates.second}));
  return cuts;
}

Result<Dims> patches_dims(const Cuts& cuts, std::span<const int64_t> images) {
  int64_t depth = images[3];
  if (depth != unknown_dim && (__builtin_mul_overflow(depth, cuts.height.size, &depth) ||
                               __builtin_mul_overflow(depth, cuts.width.size, &depth)))
    return invalid_argument("ksizes are too large for " + std::to_string(images[3]) + " channels");
  return Dims{images[0], cuts.height.patches, cuts.width.patches, depth};
}

Status patches_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto images, context.with_rank(0, 4));
  TROUPE_ASSIGN(const Cuts cuts, cuts_of(context.node(), images.dims()));
  TROUPE_ASSIGN(const Dims dims, patches_dims(cuts, images.dims()));
  context.set_output(0, partial(dims));
  return {};
}

struct PatchesArguments {
  const Tensor& images;
  Tensor& patches;
  Cuts cuts;
};

Result<PatchesArguments> check_patches(KernelContext& context) {
  const Tensor& images = context.input(0);
  if (images.shape().rank() != 4)
    return invalid_argument("images of shape " + images.shape().text() + " are not of rank 4");
  TROUPE_ASSIGN(const Cuts cuts, cuts_of(context.node(), images.shape().dims()));
  TROUPE_ASSIGN(const Dims dims, patches_dims(cuts, images.shape().dims()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, images.dtype()));
  TROUPE_ASSIGN(Tensor* const patches, context.output(0, shape));
  return PatchesArguments{images, *patches, cuts};
}

/// Writes the pixels of a row of a patch, of which the first is pixel `at` of a row of `width` pixels; null: all are zero.
template <class T>
T* write_row(const T* row, int64_t at, int64_t width, const Cut& cut, int64_t channels, T* to) {
  if (row && cut.rate == 1 && at >= 0 && at + cut.size <= width)
    return std::copy_n(row + at * channels, cut.size * channels, to);
  for (int64_t i = 0; i < cut.size; ++i) {
    const int64_t pixel = at + i * cut.rate;
    to = row && pixel >= 0 && pixel < width ? std::copy_n(row + pixel * channels, channels, to)
                                            : std::fill_n(to, channels, T{});
  }
  return to;
}

template <class T>
void extract(const PatchesArguments& arguments, Pool& pool) {
  const auto& [vertical, horizontal] = arguments.cuts;
  const auto images = arguments.images.shape().dims();
  const int64_t height = images[1], width = images[2], channels = images[3];
  const T* const from = reinterpret_cast<const T*>(arguments.images.data());
  T* const to = reinterpret_cast<T*>(arguments.patches.mutable_data());
  const auto write_patch = [&, cuts = arguments.cuts](int64_t patch, T* at) {
    const int64_t x = patch % cuts.width.patches * cuts.width.stride - cuts.width.before;
    const int64_t rows = patch / cuts.width.patches;
    const int64_t y = rows % cuts.height.patches * cuts.height.stride - cuts.height.before;
    const T* const image = from + rows / cuts.height.patches * height * width * channels;
    for (int64_t i = 0; i < cuts.height.size; ++i) {
      const int64_t row = y + i * cuts.height.rate;
      const bool inside = row >= 0 && row < height;
      at = write_row(inside ? image + row * width * channels : nullptr, x, width, cuts.width, channels, at);
    }
  };
  const int64_t depth = vertical.size * horizontal.size * channels;
  const auto count = static_cast<size_t>(arguments.patches.elements() / depth);
  parallel_rows(pool, count, 2 * sizeof(T) * static_cast<size_t>(depth), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      write_patch(static_cast<int64_t>(i), to + static_cast<int64_t>(i) * depth);
  });
}

void compute_patches(const PatchesArguments& arguments, DeviceContext& device) {
  if (arguments.patches.elements() == 0) return;
  with_storage(arguments.images.dtype(),
               [&]<class T>(std::type_identity<T>) { extract<T>(arguments, device.pool()); });
}

/// Patches of the numbers of the pixels say where each element of a patch comes from; each pixel gets the sum of what was taken
/// from it.
void patches_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const auto constants = [&](const Dims& values) { return integer_constants(scope, values, DType::Int64); };
  const Output images = shape_of(scope, context.input(0), DType::Int64);
  const auto part = [&](int64_t begin, int64_t size) {
    return slice(scope, images, constants(Dims{begin}), constants(Dims{size}));
  };
  const Output batch = part(0, 1), channels = part(3, 1), pixels = prod(scope, part(1, 2), 0);
  const Output one = integer_constant(scope, 1, DType::Int64);
  const Output numbers = range(scope, one, add(scope, pixels, one), one);  // 0 stays for the padding
  const Output image =
      reshape(scope, numbers, concat(scope, {constants(Dims{1}), part(1, 2), constants(Dims{1})}, 0));
  Attributes attrs{{"padding", context.attr<std::string>("padding")}};
  for (const char* name : {"ksizes", "strides", "rates"})
    attrs.set(name, context.attr<std::vector<int64_t>>(name));
  const Output origins = sub(
      scope, reshape(scope, scope.add_one("ExtractImagePatches", {image}, attrs), constants(Dims{-1})), one);
  const Output taken = scope.add_one("Shape", {origins}, {{"out_type", DType::Int64}});
  const Output by_batch = reshape(scope, context.gradient(), concat(scope, {batch, taken, channels}, 0));
  const Output swap = integer_constants(scope, Dims{1, 0, 2});
  const Output sums = unsorted_segment_sum(scope, transpose(scope, by_batch, swap), origins, pixels);
  context.set(0, reshape(scope, transpose(scope, sums, swap), images));
}

}  // namespace

void add_extract_image_patches(OpLibrary& library) {
  library.op(OpDefBuilder("ExtractImagePatches")
                 .input("images: T")
                 .output("patches: T")
                 .attr("ksizes: list(int) >= 4")
                 .attr("strides: list(int) >= 4")
                 .attr("rates: list(int) >= 4")
                 .attr("T: {half, bfloat16, float, double, int8, int16, int32, int64, uint8, uint16, uint32, "
                       "uint64, complex64, "
                       "complex128, bool}")
                 .attr("padding: {'SAME', 'VALID'}")
                 .constructor("extract_image_patches(images, ksizes, strides, rates, padding)")
                 .shape(patches_shape)
                 .gradient(patches_gradient));
  library.kernel(cpu_kernel("ExtractImagePatches", check_patches, compute_patches));
}

}  // namespace troupe

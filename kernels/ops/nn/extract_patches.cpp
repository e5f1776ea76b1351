// The patches that a convolution would see, each as a row: its pixels row by row, with their channels. With padding SAME, zeros
// beyond the borders; with VALID, only patches inside of the image. InvalidArgument, as in TensorFlow, if with VALID a patch has
// more pixels than the image by two strides or more.
//   ExtractImagePatches(images)   images [batch, height, width, channels]; pixels of a patch are rates[1] and rates[2] apart
//   ExtractVolumePatches(input)   input [batch, planes, height, width, channels]
// Patches have ksizes[1] x ksizes[2] pixels, in volumes x ksizes[3], and are strides[1], strides[2], ... apart.
#include "kernels/ops/nn/extract_patches.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

size_t spatial_rank(const Node& node) { return node.type() == "ExtractVolumePatches" ? 3 : 2; }

/// The elements of a list attribute for the spatial dimensions.
Result<Dims> spatial_values(const Node& node, const char* attr) {
  const auto& values = node.attrs.get<std::vector<int64_t>>(attr);
  const size_t count = spatial_rank(node);
  if (values.size() == count + 2 && values.front() == 1 && values.back() == 1) {
    const Dims spatial{std::span<const int64_t>(values).subspan(1, count)};
    if (std::ranges::all_of(spatial, [](int64_t value) { return value > 0; })) return spatial;
  }
  return invalid_argument(std::string(attr) + " is " + text_of(values) + ", expected 1, " +
                          std::to_string(count) + " positive numbers for the spatial dimensions, 1");
}

/// Sets the padding and the number of patches of a cut.
Status place_patches(Cut& cut, bool valid) {
  int64_t extent = 0;
  if (__builtin_mul_overflow(cut.size - 1, cut.rate, &extent) || __builtin_add_overflow(extent, 1, &extent))
    return invalid_argument("patches of " + std::to_string(cut.size) + " pixels at rate " +
                            std::to_string(cut.rate) + " are too large");
  cut.patches = unknown_dim;
  if (cut.pixels == unknown_dim) return {};
  if (valid) {
    const int64_t missing = extent - cut.pixels;
    if (missing > 0 && missing / 2 >= cut.stride)
      return invalid_argument("patches of " + std::to_string(extent) + " pixels at stride " +
                              std::to_string(cut.stride) + " do not fit in " + std::to_string(cut.pixels) +
                              " pixels");
    cut.patches = missing > 0 ? 0 : -missing / cut.stride + 1;
    return {};
  }
  cut.patches = cut.pixels == 0 ? 0 : (cut.pixels - 1) / cut.stride + 1;
  const int64_t last = std::max<int64_t>(cut.patches - 1, 0) * cut.stride;  // less than the pixels
  cut.before = std::max<int64_t>(extent - (cut.pixels - last), 0) / 2;
  return {};
}

Result<Cuts> cuts_of(const Node& node, std::span<const int64_t> images) {
  const size_t count = spatial_rank(node);
  TROUPE_ASSIGN(const Dims sizes, spatial_values(node, "ksizes"));
  TROUPE_ASSIGN(const Dims strides, spatial_values(node, "strides"));
  Dims rates(count, 1);
  if (node.attrs.find("rates")) {
    TROUPE_ASSIGN(rates, spatial_values(node, "rates"));
  }
  Cuts cuts(count);
  for (size_t i = 0; i < count; ++i) {
    cuts[i] = {sizes[i], strides[i], rates[i], images[i + 1]};
    TROUPE_RETURN_IF_FAILED(place_patches(cuts[i], node.attrs.get<std::string>("padding") == "VALID"));
  }
  return cuts;
}

Result<Dims> patches_dims(const Cuts& cuts, std::span<const int64_t> images) {
  Dims dims{images[0]};
  int64_t depth = images.back();
  for (const Cut& cut : cuts) {
    dims.push_back(cut.patches);
    if (depth != unknown_dim && __builtin_mul_overflow(depth, cut.size, &depth))
      return invalid_argument("ksizes are too large for " + std::to_string(images.back()) + " channels");
  }
  dims.push_back(depth);
  return dims;
}

Status patches_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto images, context.with_rank(0, spatial_rank(context.node()) + 2));
  TROUPE_ASSIGN(const Cuts cuts, cuts_of(context.node(), images.dims()));
  TROUPE_ASSIGN(const Dims dims, patches_dims(cuts, images.dims()));
  context.set_output(0, partial(dims));
  return {};
}

/// Writes the pixels of a row of a patch, of which the first is pixel `at` of a row of the image; null: all are zero.
template <class T>
T* write_row(const T* row, int64_t at, const Cut& cut, int64_t channels, T* to) {
  if (row && cut.rate == 1 && at >= 0 && at + cut.size <= cut.pixels)
    return std::copy_n(row + at * channels, cut.size * channels, to);
  for (int64_t i = 0; i < cut.size; ++i) {
    const int64_t pixel = at + i * cut.rate;
    to = row && pixel >= 0 && pixel < cut.pixels ? std::copy_n(row + pixel * channels, channels, to)
                                                 : std::fill_n(to, channels, T{});
  }
  return to;
}

/// The elements of images and their patches.
template <class T>
class Extraction {
 public:
  explicit Extraction(const PatchesArguments& arguments)
      : cuts_(arguments.cuts), channels_(arguments.images.shape().dims().back()),
        steps_(cuts_.size(), channels_), places_(cuts_.size()) {
    for (size_t d = cuts_.size() - 1; d > 0; --d) steps_[d - 1] = steps_[d] * cuts_[d].pixels;
    image_ = steps_[0] * cuts_[0].pixels;
  }

  /// Writes patch number `patch` of a batch.
  void write(const T* images, int64_t patch, T* to) {
    for (size_t d = cuts_.size(); d-- > 0; patch /= cuts_[d].patches)
      places_[d] = patch % cuts_[d].patches * cuts_[d].stride - cuts_[d].before;
    write_box(images + patch * image_, 0, to);
  }

 private:
  /// Writes what a patch has of a part of the image from dimension d on; null: all of it is zero.
  T* write_box(const T* part, size_t d, T* to) const {
    const Cut& cut = cuts_[d];
    if (d + 1 == cuts_.size()) return write_row(part, places_[d], cut, channels_, to);
    for (int64_t i = 0; i < cut.size; ++i) {
      const int64_t at = places_[d] + i * cut.rate;
      const bool inside = part && at >= 0 && at < cut.pixels;
      to = write_box(inside ? part + at * steps_[d] : nullptr, d + 1, to);
    }
    return to;
  }

  const Cuts& cuts_;
  const int64_t channels_;
  int64_t image_ = 0;  ///< elements of an image
  Dims steps_;         ///< elements from one pixel of a dimension to the next
  Dims places_;        ///< of the first pixel of the patch
};

template <class T>
void extract(const PatchesArguments& arguments, Pool& pool) {
  const T* const from = reinterpret_cast<const T*>(arguments.images.data());
  T* const to = reinterpret_cast<T*>(arguments.patches.mutable_data());
  const auto dims = arguments.patches.shape().dims();
  const int64_t depth = dims.back();
  parallel_rows(pool, count_of(dims.first(dims.size() - 1)), 2 * sizeof(T) * static_cast<size_t>(depth),
                [&](size_t begin, size_t end) {
                  Extraction<T> extraction(arguments);
                  for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i)
                    extraction.write(from, i, to + i * depth);
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
  const auto rank = static_cast<int64_t>(spatial_rank(context.node()));
  const Output batch = part(0, 1), channels = part(rank + 1, 1), pixels = prod(scope, part(1, rank), 0);
  const Output one = integer_constant(scope, 1, DType::Int64);
  const Output numbers = range(scope, one, add(scope, pixels, one), one);  // 0 stays for the padding
  const Output image =
      reshape(scope, numbers, concat(scope, {constants(Dims{1}), part(1, rank), constants(Dims{1})}, 0));
  Attributes attrs{{"padding", context.attr<std::string>("padding")}};
  for (const char* name : {"ksizes", "strides", "rates"})
    if (const AttrValue* const value = context.node().attrs.find(name)) attrs.set(name, *value);
  const std::string op = context.node().type();
  const Output origins =
      sub(scope, reshape(scope, scope.add_one(op, {image}, attrs), constants(Dims{-1})), one);
  const Output taken = scope.add_one("Shape", {origins}, {{"out_type", DType::Int64}});
  const Output by_batch = reshape(scope, context.gradient(), concat(scope, {batch, taken, channels}, 0));
  const Output swap = integer_constants(scope, Dims{1, 0, 2});
  const Output sums = unsorted_segment_sum(scope, transpose(scope, by_batch, swap), origins, pixels);
  context.set(0, reshape(scope, transpose(scope, sums, swap), images));
}

}  // namespace

Result<PatchesArguments> check_patches(KernelContext& context) {
  const Tensor& images = context.input(0);
  const size_t rank = spatial_rank(context.node()) + 2;
  if (images.shape().rank() != rank)
    return invalid_argument(context.node().op->inputs[0].name + " of shape " + images.shape().text() +
                            " is not of rank " + std::to_string(rank));
  TROUPE_ASSIGN(Cuts cuts, cuts_of(context.node(), images.shape().dims()));
  TROUPE_ASSIGN(const Dims dims, patches_dims(cuts, images.shape().dims()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, images.dtype()));
  TROUPE_ASSIGN(Tensor* const patches, context.output(0, shape));
  return PatchesArguments{images, *patches, std::move(cuts)};
}

void add_extract_patches_ops(OpLibrary& library) {
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
  library.op(OpDefBuilder("ExtractVolumePatches")
                 .input("input: T")
                 .output("patches: T")
                 .attr("ksizes: list(int) >= 5")
                 .attr("strides: list(int) >= 5")
                 .attr("T: realnumbertype")
                 .attr("padding: {'SAME', 'VALID'}")
                 .constructor("extract_volume_patches(input, ksizes, strides, padding)")
                 .shape(patches_shape)
                 .gradient(patches_gradient));
  for (const char* op : {"ExtractImagePatches", "ExtractVolumePatches"})
    library.kernel(cpu_kernel(op, check_patches, compute_patches));
}

}  // namespace troupe

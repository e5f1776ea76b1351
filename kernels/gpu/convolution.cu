#include "kernels/gpu/convolution.h"

#include "kernels/gpu/gemm.h"
#include "kernels/gpu/images.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/patch_products.h"
#include "kernels/gpu/plain_convolution.h"
#include "kernels/gpu/transpose_matrices.h"
#include "kernels/gpu/units.h"

#if defined(__CUDACC__)
#include "kernels/gpu/dnn_convolution.h"
#endif

namespace troupe::gpu {
namespace {

// ---- Products

/// Every output depends on one position.
bool is_pointwise(const ConvolutionSizes& sizes) {
  return std::ranges::all_of(sizes.axes, [](const ConvolutionAxis& axis) {
    return axis.window == 1 && axis.stride == 1 && axis.pad_before == 0 && axis.output == axis.input;
  });
}
/// There is one output, which depends on a whole image.
bool covers_images(const ConvolutionSizes& sizes) {
  return std::ranges::all_of(sizes.axes, [](const ConvolutionAxis& axis) {
    return axis.window == axis.input && axis.dilation == 1 && axis.pad_before == 0 && axis.output == 1;
  });
}

/// Returns whether the pass is a product of matrices. With channels before the positions, that of filters would be a sum of them.
bool is_product(const ConvolutionWork& work) {
  if (work.sizes.groups != 1) return false;
  if (work.channels_last) return is_pointwise(work.sizes) || covers_images(work.sizes);
  return work.pass != ConvolutionPass::FilterGradient && is_pointwise(work.sizes);
}

/// Every output depends on one position, but not every position has outputs.
bool takes_some_positions(const ConvolutionSizes& sizes) {
  return sizes.groups == 1 && !is_pointwise(sizes) &&
         std::ranges::all_of(sizes.axes, [](const ConvolutionAxis& axis) {
           return axis.window == 1 && axis.pad_before == 0 && (axis.output - 1) * axis.stride < axis.input;
         });
}

/// Rows are positions, or images; columns are channels, or the elements of a position of the filter.
Status multiply_rows(DeviceContext& device, const ConvolutionWork& work) {
  const ConvolutionSizes& sizes = work.sizes;
  const int64_t outputs = sizes.out_channels, inputs = sizes.filter_elements() / outputs;
  const int64_t rows = sizes.batch * sizes.image_elements() / inputs;
  Product product{.dtype = work.dtype, .rows = rows, .columns = outputs, .inner = inputs};
  if (work.pass == ConvolutionPass::ImageGradient) {
    product.columns = inputs;
    product.inner = outputs;
    product.transpose_b = true;
  }
  if (work.pass == ConvolutionPass::FilterGradient) {
    product.rows = inputs;
    product.inner = rows;
    product.transpose_a = true;
  }
  product.a = work.a;
  product.b = work.b;
  product.c = work.out;
  return multiply(device, product);
}

/// One product for each image: rows are channels, columns are positions.
Status multiply_images(DeviceContext& device, const ConvolutionWork& work) {
  const ConvolutionSizes& sizes = work.sizes;
  const bool forward = work.pass == ConvolutionPass::Forward;
  const int64_t positions = sizes.image_elements() / sizes.in_channels;
  Product product{
      .dtype = work.dtype, .rows = sizes.in_channels, .columns = positions, .inner = sizes.out_channels};
  if (forward) std::swap(product.rows, product.inner);
  product.a = work.b;
  product.b = work.a;
  product.c = work.out;
  product.transpose_a = forward;
  product.batch = sizes.batch;
  product.step_b = product.inner * positions;
  product.step_c = product.rows * positions;
  return multiply(device, product);
}

/// Convolves the positions that have outputs as if there were no others.
Status convolve_some_positions(DeviceContext& device, const ConvolutionWork& work) {
  const bool spreads = work.pass == ConvolutionPass::ImageGradient;
  ConvolutionWork inner = work;
  for (ConvolutionAxis& axis : inner.sizes.axes) {
    axis.input = axis.output;
    axis.stride = 1;
  }
  const size_t element = size_of(work.dtype);
  const auto taken_elements = static_cast<size_t>(inner.sizes.batch * inner.sizes.image_elements());
  TROUPE_ASSIGN(const BufferRef taken, scratch(device, taken_elements * element));
  ConvolutionSizes all = work.sizes, some = inner.sizes;
  size_t unit = element;  // neighbouring channels are moved together
  if (work.channels_last) {
    const auto channels = static_cast<size_t>(all.in_channels);
    unit = unit_of_rows(element, channels, spreads ? work.out : work.a, taken->data);
    some.in_channels = all.in_channels = static_cast<int64_t>(channels * element / unit);
  }
  const ImageShape whole = input_shape(all, work.channels_last), part = input_shape(some, work.channels_last);
  std::array<int, 3> strides{};
  std::ranges::transform(three_axes(work.sizes), strides.begin(),
                         [](const ConvolutionAxis& axis) { return static_cast<int>(axis.stride); });
  if (spreads) {
    inner.out = taken->data;
    TROUPE_RETURN_IF_FAILED(convolve(device, inner));
    return spread_positions(device, unit, part, taken->data, whole, work.out, strides);
  }
  TROUPE_RETURN_IF_FAILED(take_positions(device, unit, whole, work.a, part, taken->data, strides));
  inner.a = taken->data;
  return convolve(device, inner);
}

// ---- cuDNN

/// How images are changed so that the padding is the same on both sides.
struct Frame {
  ConvolutionSizes sizes;          ///< of the changed images
  std::array<int, 3> offset = {};  ///< of a position in the images from that in the changed images
  bool changes = false;
};

bool is_symmetric(const ConvolutionAxis& axis) {
  const int64_t reach = (axis.window - 1) * axis.dilation + 1;
  return (axis.input + 2 * axis.pad_before - reach) / axis.stride + 1 == axis.output;
}

Frame symmetric(const ConvolutionSizes& sizes) {
  Frame frame{.sizes = sizes};
  const size_t first = 3 - sizes.axes.size();
  for (size_t i = 0; i < sizes.axes.size(); ++i) {
    ConvolutionAxis& axis = frame.sizes.axes[i];
    if (is_symmetric(axis)) continue;
    frame.changes = true;
    frame.offset[first + i] = -static_cast<int>(axis.pad_before);
    axis.input += axis.pad_before + axis.pad_after();
    axis.pad_before = 0;
  }
  return frame;
}

/// The steps before and after a convolution by cuDNN, with images in the layout that it is asked to use.
class DnnSteps {
 public:
  DnnSteps(DeviceContext& device, const ConvolutionWork& work, bool channels_last)
      : device_(device), work_(work), last_(channels_last), element_(size_of(work.dtype)),
        frame_(symmetric(work.sizes)) {}

  /// Returns false if cuDNN does not support the convolution.
  Result<bool> run() {
    ConvolutionWork inner{work_.pass, frame_.sizes, work_.dtype, last_, nullptr, nullptr, nullptr};
#if defined(__CUDACC__)
    if (device_.queue()) {
      TROUPE_ASSIGN(const bool possible, dnn_may_convolve(device_, inner));
      if (!possible) return false;
    }
#endif
    const bool forward = work_.pass == ConvolutionPass::Forward,
               filter_gradient = work_.pass == ConvolutionPass::FilterGradient;
    const ImageShape outputs = output_shape(work_.sizes, work_.channels_last);
    if (work_.pass == ConvolutionPass::ImageGradient) {
      TROUPE_ASSIGN(inner.a, in_layout(outputs, work_.a));
    } else {
      TROUPE_ASSIGN(inner.a, framed_images());
    }
    if (filter_gradient) {
      TROUPE_ASSIGN(inner.b, in_layout(outputs, work_.b));
    } else {
      TROUPE_ASSIGN(inner.b, filter());
    }
    TROUPE_ASSIGN(inner.out, target());
    TROUPE_ASSIGN(const bool done, convolve(inner));
    if (!done) return false;
    if (filter_gradient)
      TROUPE_RETURN_IF_FAILED(write_filter(inner.out));
    else if (forward)
      TROUPE_RETURN_IF_FAILED(from_layout(output_shape(work_.sizes, last_), inner.out, work_.out));
    else
      TROUPE_RETURN_IF_FAILED(write_images(inner.out));
    return true;
  }

 private:
  Result<bool> convolve(const ConvolutionWork& inner) {
#if defined(__CUDACC__)
    if (device_.queue()) return convolve_by_dnn(device_, inner);
#endif
    TROUPE_RETURN_IF_FAILED(
        convolve_plainly(device_, inner, FilterSteps::outputs_first(inner.sizes, inner.channels_last)));
    return true;
  }

  Result<std::byte*> memory(size_t elements) {
    TROUPE_ASSIGN(BufferRef buffer, scratch(device_, elements * element_));
    std::byte* const data = buffer->data;
    kept_.push_back(std::move(buffer));
    return data;
  }

  bool same_layout(const ImageShape& shape) const {
    return last_ == work_.channels_last || shape.channels() == 1 || shape.area() == 1;
  }
  /// Returns images of this shape, in the layout of the node, in that of cuDNN.
  Result<const std::byte*> in_layout(const ImageShape& shape, const std::byte* images) {
    if (same_layout(shape)) return images;
    TROUPE_ASSIGN(std::byte* const changed, memory(shape.elements()));
    TROUPE_RETURN_IF_FAILED(change_layout(device_, element_, shape, images, changed));
    return changed;
  }
  Status from_layout(const ImageShape& shape, const std::byte* images, std::byte* to) {
    return images == to ? Status() : change_layout(device_, element_, shape, images, to);
  }

  Result<const std::byte*> framed_images() {
    const ImageShape given = input_shape(work_.sizes, work_.channels_last),
                     shape = input_shape(frame_.sizes, work_.channels_last);
    const std::byte* images = work_.a;
    if (frame_.changes) {
      TROUPE_ASSIGN(std::byte* const framed, memory(shape.elements()));
      TROUPE_RETURN_IF_FAILED(move_images(device_, element_, given, images, shape, framed, frame_.offset));
      images = framed;
    }
    return in_layout(shape, images);
  }
  Status write_images(std::byte* images) {
    const ImageShape shape = input_shape(frame_.sizes, last_);
    if (!frame_.changes) return from_layout(shape, images, work_.out);
    const ImageShape to = input_shape(work_.sizes, work_.channels_last);
    std::byte* framed = images;
    if (!same_layout(shape)) {
      TROUPE_ASSIGN(framed, memory(shape.elements()));
      TROUPE_RETURN_IF_FAILED(change_layout(device_, element_, shape, images, framed));
    }
    const auto [x, y, z] = frame_.offset;
    return move_images(device_, element_, input_shape(frame_.sizes, work_.channels_last), framed, to,
                       work_.out, {-x, -y, -z});
  }

  /// Positions of the window, input channels of a group, and output channels.
  struct FilterSizes {
    size_t window, in, out;
  };
  FilterSizes filter_sizes() const {
    const auto in = static_cast<size_t>(work_.sizes.in_channels / work_.sizes.groups),
               out = static_cast<size_t>(work_.sizes.out_channels);
    return {static_cast<size_t>(work_.sizes.filter_elements()) / in / out, in, out};
  }
  bool in_order(const FilterSizes& sizes) const { return last_ || sizes.window == 1 || sizes.in == 1; }
  /// Returns the filter with the output channels first.
  Result<const std::byte*> filter() {
    const FilterSizes sizes = filter_sizes();
    const size_t elements = sizes.window * sizes.in * sizes.out;
    TROUPE_ASSIGN(std::byte* const turned, memory(elements));
    TROUPE_RETURN_IF_FAILED(
        transpose_matrices(device_, element_, 1, sizes.window * sizes.in, sizes.out, work_.b, turned));
    if (in_order(sizes)) return turned;
    TROUPE_ASSIGN(std::byte* const ordered, memory(elements));
    TROUPE_RETURN_IF_FAILED(
        transpose_matrices(device_, element_, sizes.out, sizes.window, sizes.in, turned, ordered));
    return ordered;
  }
  Status write_filter(std::byte* filter) {
    const FilterSizes sizes = filter_sizes();
    std::byte* ordered = filter;
    if (!in_order(sizes)) {
      TROUPE_ASSIGN(ordered, memory(sizes.window * sizes.in * sizes.out));
      TROUPE_RETURN_IF_FAILED(
          transpose_matrices(device_, element_, sizes.out, sizes.in, sizes.window, filter, ordered));
    }
    return transpose_matrices(device_, element_, 1, sizes.out, sizes.window * sizes.in, ordered, work_.out);
  }

  /// Returns where cuDNN writes: the output itself if it need not be changed afterwards.
  Result<std::byte*> target() {
    if (work_.pass == ConvolutionPass::FilterGradient)
      return memory(static_cast<size_t>(work_.sizes.filter_elements()));
    const bool forward = work_.pass == ConvolutionPass::Forward;
    const ImageShape shape = forward ? output_shape(work_.sizes, last_) : input_shape(frame_.sizes, last_);
    if (same_layout(shape) && (forward || !frame_.changes)) return work_.out;
    return memory(shape.elements());
  }

  DeviceContext& device_;
  const ConvolutionWork& work_;
  const bool last_;
  const size_t element_;
  const Frame frame_;
  std::vector<BufferRef> kept_;
};

/// Returns whether convolutions run on tensor cores, where cuDNN is faster with channels last.
bool uses_tensor_cores(DeviceContext& device, DType dtype) {
  if (dtype == DType::Half || dtype == DType::BFloat16) return true;
  return dtype == DType::Float && device.queue() && device.queue()->tf32();
}

Status convolve_in_steps(DeviceContext& device, const ConvolutionWork& work) {
  const bool preferred = uses_tensor_cores(device, work.dtype);
  for (const bool channels_last : {preferred, !preferred}) {
    TROUPE_ASSIGN(const bool done, DnnSteps(device, work, channels_last).run());
    if (done) return {};
  }
  return convolve_plainly(device, work, FilterSteps::outputs_last(work.sizes));
}

// ---- Gradients of filters

/// Calls compute(device, work) for the gradient of a filter, with images in the other layout.
template <class Compute>
Status filter_gradient_in_other_layout(DeviceContext& device, const ConvolutionWork& work,
                                       const Compute& compute) {
  const ImageShape in = input_shape(work.sizes, work.channels_last),
                   out = output_shape(work.sizes, work.channels_last);
  const size_t element = size_of(work.dtype);
  TROUPE_ASSIGN(const BufferRef images, scratch(device, in.elements() * element));
  TROUPE_ASSIGN(const BufferRef gradient, scratch(device, out.elements() * element));
  TROUPE_RETURN_IF_FAILED(change_layout(device, element, in, work.a, images->data));
  TROUPE_RETURN_IF_FAILED(change_layout(device, element, out, work.b, gradient->data));
  ConvolutionWork turned = work;
  turned.channels_last = !work.channels_last;
  turned.a = images->data;
  turned.b = gradient->data;
  return compute(device, turned);
}

// ---- One filter for each channel

bool is_depthwise(const ConvolutionSizes& sizes) {
  return sizes.groups == sizes.in_channels && sizes.groups > 1;
}

Status convolve_depthwise(DeviceContext& device, const ConvolutionWork& work) {
  const auto convolve = [](DeviceContext& on, const ConvolutionWork& given) {
    return convolve_plainly(on, given, FilterSteps::outputs_last(given.sizes));
  };
  // Each team that sums an element of the filter's gradient reads one channel, so the channels are brought before the positions.
  if (work.pass == ConvolutionPass::FilterGradient && work.channels_last)
    return filter_gradient_in_other_layout(device, work, convolve);
  return convolve(device, work);
}

}  // namespace

Status convolve(DeviceContext& device, const ConvolutionWork& work) {
  if (is_product(work))
    return work.channels_last ? multiply_rows(device, work) : multiply_images(device, work);
  if (is_product_of_patches(work))
    return work.channels_last ? multiply_patches(device, work)
                              : filter_gradient_in_other_layout(device, work, multiply_patches);
  if (takes_some_positions(work.sizes)) return convolve_some_positions(device, work);
  if (is_product_of_few_patches(work) && !uses_tensor_cores(device, work.dtype))
    return multiply_patches(device, work);
  if (is_depthwise(work.sizes)) return convolve_depthwise(device, work);
  return convolve_in_steps(device, work);
}

}  // namespace troupe::gpu

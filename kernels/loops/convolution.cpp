#include "kernels/loops/convolution.h"

#include <optional>

#include "kernels/loops/cast.h"
#include "kernels/loops/column_convolution.h"
#include "kernels/loops/direct_convolution.h"
#include "kernels/loops/winograd.h"

namespace troupe {
namespace {

int64_t product(const ShortList<ConvolutionAxis>& axes, int64_t ConvolutionAxis::*extent, int64_t channels) {
  for (const ConvolutionAxis& axis : axes) channels *= axis.*extent;
  return channels;
}

/// Returns the sizes for Winograd's algorithm, if it serves them and pays.
std::optional<WinogradSizes> winograd_sizes(ConvolutionPass pass, const ConvolutionSizes& sizes) {
  if (sizes.axes.size() != 2 || sizes.groups != 1) return std::nullopt;
  for (const ConvolutionAxis& axis : sizes.axes)
    if (axis.window != 3 || axis.stride != 1 || axis.dilation != 1 || axis.pad_before > 2 ||
        axis.pad_after() > 2)
      return std::nullopt;
  const ConvolutionAxis &down = sizes.axes[0], &across = sizes.axes[1];
  WinogradSizes result{sizes.batch,       down.input,         across.input,
                       sizes.in_channels, sizes.out_channels, down.pad_before,
                       across.pad_before, down.output,        across.output};
  if (pass == ConvolutionPass::ImageGradient) {  // a convolution of the gradients with the rotated filter
    std::swap(result.height, result.out_height);
    std::swap(result.width, result.out_width);
    std::swap(result.in_channels, result.out_channels);
    result.pad_top = 2 - down.pad_before;
    result.pad_left = 2 - across.pad_before;
  }
  return winograd_pays(result) ? std::optional(result) : std::nullopt;
}

Status winograd(DeviceContext& device, ConvolutionPass pass, const WinogradSizes& sizes, const Tensor& a,
                const Tensor& b, const PostOps& post, float* out, KeptFilter* kept) {
  const float *const images = a.as<float>().data(), *const filter = b.as<float>().data();
  if (pass == ConvolutionPass::FilterGradient)
    return winograd_filter_gradient(device, sizes, images, filter, out);
  if (kept)
    if (const auto found = kept->find(b, winograd_form))
      return winograd_convolution(device, sizes, images, *found, post, out);
  TROUPE_ASSIGN(const Tensor points,
                winograd_filter(device, sizes, filter, pass == ConvolutionPass::ImageGradient));
  if (kept && kept->wants(b)) kept->keep(b, winograd_form, points);
  return winograd_convolution(device, sizes, images, points, post, out);
}

}  // namespace

int64_t ConvolutionSizes::image_elements() const {
  return product(axes, &ConvolutionAxis::input, in_channels);
}
int64_t ConvolutionSizes::output_elements() const {
  return product(axes, &ConvolutionAxis::output, out_channels);
}
int64_t ConvolutionSizes::filter_elements() const {
  return product(axes, &ConvolutionAxis::window, in_channels / groups * out_channels);
}

Convolution::Convolution(ConvolutionPass pass)
    : pass_(pass), direct_(std::make_unique<DirectConvolution>(pass)),
      kept_(pass == ConvolutionPass::Forward ? std::make_unique<KeptFilter>() : nullptr) {}
Convolution::Convolution(Convolution&&) noexcept = default;
Convolution::~Convolution() = default;

Status Convolution::run(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& a,
                        const Tensor& b, Tensor& out) const {
  const auto in_columns = [&]<class T>(std::type_identity<T>) {
    return column_convolution(device, pass_, sizes, a.as<T>().data(), b.as<T>().data(),
                              out.write<T>().data());
  };
  if (a.dtype() == DType::Double) return in_columns(std::type_identity<double>{});
  if (a.dtype() == DType::Int32) return in_columns(std::type_identity<int32_t>{});
  if (a.dtype() == DType::Float) return run_float(device, sizes, a, b, {}, out);
  TROUPE_ASSIGN(const Tensor wide_a, converted(device, a, DType::Float));
  TROUPE_ASSIGN(const Tensor wide_b, converted(device, b, DType::Float));
  TROUPE_ASSIGN(Tensor wide_out, Tensor::allocate(DType::Float, out.shape(), device.memory()));
  TROUPE_RETURN_IF_FAILED(run_float(device, sizes, wide_a, wide_b, {}, wide_out));
  convert(device.pool(), wide_out, out);
  return {};
}

Status Convolution::run_float(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& a,
                              const Tensor& b, const PostOps& post, Tensor& out_tensor) const {
  float* const out = out_tensor.write<float>().data();
  if (const auto tiled = winograd_sizes(pass_, sizes))
    return winograd(device, pass_, *tiled, a, b, post, out, kept_.get());
  if (pass_ == ConvolutionPass::Forward && panel_convolution_pays(sizes))
    return panel_convolution(device, sizes, a, b, *kept_, post, out);
  Status status = direct_->run(device, sizes, a, b, post, out, kept_.get());
  if (status.code() != Code::Unimplemented) return status;
  TROUPE_RETURN_IF_FAILED(
      column_convolution(device, pass_, sizes, a.as<float>().data(), b.as<float>().data(), out));
  if (pass_ == ConvolutionPass::Forward)
    apply_post_ops(device.pool(), post, out_tensor.elements() / sizes.out_channels, sizes.out_channels, out);
  return {};
}

}  // namespace troupe

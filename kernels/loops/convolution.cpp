#include "kernels/loops/convolution.h"

#include <array>
#include <optional>

#include "kernels/core/parallel.h"
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

Status winograd(DeviceContext& device, ConvolutionPass pass, const WinogradSizes& sizes, const float* a,
                const float* b, float* out) {
  if (pass == ConvolutionPass::FilterGradient) return winograd_filter_gradient(device, sizes, a, b, out);
  return winograd_convolution(device, sizes, a, b, pass == ConvolutionPass::ImageGradient, out);
}

/// How many elements the operands have: a, b and out.
std::array<int64_t, 3> operand_elements(ConvolutionPass pass, const ConvolutionSizes& sizes) {
  const int64_t images = sizes.batch * sizes.image_elements(),
                outputs = sizes.batch * sizes.output_elements();
  const int64_t filter = sizes.filter_elements();
  switch (pass) {
    case ConvolutionPass::Forward: return {images, filter, outputs};
    case ConvolutionPass::ImageGradient: return {outputs, filter, images};
    case ConvolutionPass::FilterGradient: break;
  }
  return {images, outputs, filter};
}

Result<Tensor> floats(DeviceContext& device, int64_t count) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{count}, DType::Float));
  return Tensor::allocate(DType::Float, shape, device.host_memory());
}

void convert(Pool& pool, DType from_type, const std::byte* from, DType to_type, std::byte* to,
             int64_t count) {
  const UnaryLoop loop = cast_loop(from_type, to_type);
  parallel_items(pool, static_cast<size_t>(count), size_of(from_type) + size_of(to_type),
                 [&](size_t begin, size_t end) {
                   loop(from + begin * size_of(from_type), to + begin * size_of(to_type), end - begin);
                 });
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
    : pass_(pass), direct_(std::make_unique<DirectConvolution>(pass)) {}
Convolution::Convolution(Convolution&&) noexcept = default;
Convolution::~Convolution() = default;

Status Convolution::run(DeviceContext& device, const ConvolutionSizes& sizes, DType dtype, const std::byte* a,
                        const std::byte* b, std::byte* out) const {
  const auto in = [&]<class T>(T*) {
    return column_convolution(device, pass_, sizes, reinterpret_cast<const T*>(a),
                              reinterpret_cast<const T*>(b), reinterpret_cast<T*>(out));
  };
  if (dtype == DType::Double) return in(static_cast<double*>(nullptr));
  if (dtype == DType::Int32) return in(static_cast<int32_t*>(nullptr));
  if (is_narrow(dtype)) return run_narrow(device, sizes, dtype, a, b, out);
  return run_float(device, sizes, reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                   reinterpret_cast<float*>(out));
}

Status Convolution::run_float(DeviceContext& device, const ConvolutionSizes& sizes, const float* a,
                              const float* b, float* out) const {
  if (const auto tiled = winograd_sizes(pass_, sizes)) return winograd(device, pass_, *tiled, a, b, out);
  Status status = direct_->run(device, sizes, a, b, out);
  if (status.code() != Code::Unimplemented) return status;
  return column_convolution(device, pass_, sizes, a, b, out);
}

Status Convolution::run_narrow(DeviceContext& device, const ConvolutionSizes& sizes, DType dtype,
                               const std::byte* a, const std::byte* b, std::byte* out) const {
  const auto counts = operand_elements(pass_, sizes);
  TROUPE_ASSIGN(Tensor scratch, floats(device, counts[0] + counts[1] + counts[2]));
  float* const wide_a = scratch.write<float>().data();
  float *const wide_b = wide_a + counts[0], *const wide_out = wide_b + counts[1];
  convert(device.pool(), dtype, a, DType::Float, reinterpret_cast<std::byte*>(wide_a), counts[0]);
  convert(device.pool(), dtype, b, DType::Float, reinterpret_cast<std::byte*>(wide_b), counts[1]);
  TROUPE_RETURN_IF_FAILED(run_float(device, sizes, wide_a, wide_b, wide_out));
  convert(device.pool(), DType::Float, reinterpret_cast<const std::byte*>(wide_out), dtype, out, counts[2]);
  return {};
}

}  // namespace troupe

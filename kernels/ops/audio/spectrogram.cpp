// AudioSpectrogram(input): the magnitudes of the frequencies of a sound, or their squares, window by window. input is
// [samples, channels], the output [channels, windows, frequencies] for windows of window_size samples, each `stride` after the one
// before; what does not fill a window is left out. A window is multiplied by the periodic Hann function, padded with zeros to the
// next power of two, n, and transformed, in double precision; there are n / 2 + 1 frequencies, from 0 to half the sample rate.
// InvalidArgument for a window of fewer than 2 or more than 2^27 samples, and a stride below 1.
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/linalg/fourier.h"

namespace troupe {
namespace {

struct Windows {
  int64_t size, stride;

  int64_t padded() const { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size))); }
  int64_t frequencies() const { return padded() / 2 + 1; }
  int64_t count(int64_t samples) const { return samples < size ? 0 : 1 + (samples - size) / stride; }
};

Result<Windows> windows_of(const Node& node) {
  const Windows windows{node.attrs.get<int64_t>("window_size"), node.attrs.get<int64_t>("stride")};
  if (windows.size < 2 || windows.size > longest_line)
    return invalid_argument("window_size is " + std::to_string(windows.size) + ", it must be in [2, 2^27]");
  if (windows.stride < 1)
    return invalid_argument("stride is " + std::to_string(windows.stride) + ", it must be at least 1");
  return windows;
}

Status spectrogram_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const Windows windows, windows_of(context.node()));
  TROUPE_ASSIGN(const PartialShape input, context.with_rank(0, 2));
  const int64_t count = input[0] == unknown_dim ? unknown_dim : windows.count(input[0]);
  context.set_output(0, PartialShape{input[1], count, windows.frequencies()});
  return {};
}

struct SpectrogramArguments {
  const Tensor& input;  ///< [samples, channels]
  Windows windows;
  bool squared;
  Tensor& output;  ///< [channels, windows, frequencies]
};

Result<SpectrogramArguments> check_spectrogram(KernelContext& context) {
  TROUPE_ASSIGN(const Windows windows, windows_of(context.node()));
  const Tensor& input = context.input(0);
  if (input.shape().rank() != 2)
    return invalid_argument("input of shape " + input.shape().text() + " must be a matrix");
  const std::array dims{input.shape()[1], windows.count(input.shape()[0]), windows.frequencies()};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, f32));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return SpectrogramArguments{input, windows, context.node().attrs.get<bool>("magnitude_squared"), *output};
}

std::vector<double> periodic_hann(int64_t size) {
  std::vector<double> window(static_cast<size_t>(size));
  for (size_t i = 0; i < window.size(); ++i)
    window[i] =
        0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size));
  return window;
}

void compute_spectrogram(const SpectrogramArguments& arguments, DeviceContext& device) {
  const Windows& windows = arguments.windows;
  const auto channels = static_cast<size_t>(arguments.input.shape()[1]);
  const auto count = static_cast<size_t>(arguments.output.shape()[1]);
  const auto frequencies = static_cast<size_t>(windows.frequencies());
  const auto stride = static_cast<size_t>(windows.stride), padded = static_cast<size_t>(windows.padded());
  const std::vector<double> weights = periodic_hann(windows.size);
  const float* const samples = arguments.input.as<float>().data();
  float* const output = arguments.output.write<float>().data();
  parallel_rows(device.pool(), channels * count, padded * sizeof(double) * 16, [&](size_t begin, size_t end) {
    LineTransform<double> transform(windows.padded(), false);
    std::vector<std::complex<double>> from(padded), to(padded);
    for (size_t row = begin; row < end; ++row) {
      const float* const first = samples + row % count * stride * channels + row / count;
      for (size_t i = 0; i < weights.size(); ++i)
        from[i] = static_cast<double>(first[i * channels]) * weights[i];
      transform(from.data(), to.data());
      for (size_t i = 0; i < frequencies; ++i) {
        const auto power = static_cast<float>(std::norm(to[i]));
        output[row * frequencies + i] = arguments.squared ? power : std::sqrt(power);
      }
    }
  });
}

}  // namespace

void add_audio_spectrogram(OpLibrary& library) {
  library.op(OpDefBuilder("AudioSpectrogram")
                 .input("input: float")
                 .output("spectrogram: float")
                 .attr("window_size: int")
                 .attr("stride: int")
                 .attr("magnitude_squared: bool = false")
                 .constructor("audio_spectrogram(input, window_size, stride, magnitude_squared)")
                 .shape(spectrogram_shape));
  library.kernel(cpu_kernel("AudioSpectrogram", check_spectrogram, compute_spectrogram));
}

}  // namespace troupe

// FakeQuantWithMinMaxArgs, ..Vars, ..VarsPerChannel and their gradients on GPUs: see fake_quant.cpp.
#include "kernels/ops/quantized/fake_quant.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"

namespace troupe {
namespace {

/// The ranges of elements by their channel, of which there is one if all elements have one range.
struct Ranges {
  const QuantRange* ranges;
  gpu::Divider channels;

  TROUPE_ANY const QuantRange& of(size_t i) const { return ranges[gpu::split(channels, i)]; }
};

struct MakeRanges {
  const float *min, *max;  ///< null where attributes have the range
  float low, high, steps;
  QuantRange* ranges;

  TROUPE_ANY void operator()(size_t channel) const {
    ranges[channel] =
        min ? QuantRange::of(min[channel], max[channel], steps) : QuantRange::of(low, high, steps);
  }
};

size_t channels_of(const FakeQuantArguments& arguments) {
  return arguments.min ? static_cast<size_t>(arguments.min->elements()) : 1;
}

Result<BufferRef> make_ranges(const FakeQuantArguments& arguments, DeviceContext& device) {
  const auto data = [](const Tensor* tensor) { return tensor ? tensor->as<float>().data() : nullptr; };
  const size_t channels = channels_of(arguments);
  TROUPE_ASSIGN(BufferRef memory, gpu::scratch(device, channels * sizeof(QuantRange)));
  TROUPE_RETURN_IF_FAILED(
      gpu::each(device, channels,
                MakeRanges{data(arguments.min), data(arguments.max), arguments.low, arguments.high,
                           arguments.steps, reinterpret_cast<QuantRange*>(memory->data)}));
  return memory;
}

/// The ranges in this memory. Without channels there are no elements, and nothing is divided.
Ranges ranges_in(const BufferRef& memory, const FakeQuantArguments& arguments) {
  return {reinterpret_cast<const QuantRange*>(memory->data),
          gpu::Divider(std::max<size_t>(channels_of(arguments), 1))};
}

struct RoundElements {
  Ranges ranges;
  const float* x;
  float* y;

  TROUPE_ANY void operator()(size_t i) const {
    const QuantRange& range = ranges.of(i);
    y[i] = QuantRange::rounded(x[i], range.low, range.high, range.step);
  }
};

Status compute_fake_quant(const FakeQuantArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const BufferRef memory, make_ranges(arguments, device));
  const auto x = arguments.inputs.as<float>();
  return gpu::each(
      device, x.size(),
      RoundElements{ranges_in(memory, arguments), x.data(), arguments.outputs[0]->write<float>().data()});
}

// ---- Gradients

struct PassInside {
  Ranges ranges;
  const float *dy, *x;
  float* dx;

  TROUPE_ANY void operator()(size_t i) const {
    const QuantRange& range = ranges.of(i);
    dx[i] = range.passes || (x[i] >= range.low && x[i] <= range.high) ? dy[i] : 0.0F;
  }
};

/// The gradients of elements below and above the range.
struct Outside {
  Ranges ranges;
  const float *dy, *x;

  TROUPE_ANY gpu::TwoSums<double> operator()(size_t i) const {
    const QuantRange& range = ranges.of(i);
    const double gradient = range.passes ? 0 : static_cast<double>(dy[i]);
    return {x[i] < range.low ? gradient : 0, x[i] > range.high ? gradient : 0};
  }
};

struct OutsideSink {
  float *min, *max;
  TROUPE_ANY void operator()(size_t channel, const gpu::TwoSums<double>& sums) const {
    min[channel] = static_cast<float>(sums.first);
    max[channel] = static_cast<float>(sums.second);
  }
};

Status compute_fake_quant_gradient(const FakeQuantArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const BufferRef memory, make_ranges(arguments, device));
  const Ranges ranges = ranges_in(memory, arguments);
  const auto x = arguments.inputs.as<float>(), dy = arguments.gradients->as<float>();
  const auto out = [&](size_t i) { return arguments.outputs[i]->write<float>().data(); };
  TROUPE_RETURN_IF_FAILED(gpu::each(device, x.size(), PassInside{ranges, dy.data(), x.data(), out(0)}));
  if (arguments.outputs.size() == 1) return {};
  return gpu::reduce_channels<gpu::TwoSums<double>>(
      device, {x.size() / ranges.channels.divisor(), channels_of(arguments), 1},
      gpu::Plus<gpu::TwoSums<double>>{}, Outside{ranges, dy.data(), x.data()}, OutsideSink{out(1), out(2)});
}

}  // namespace

void add_fake_quant_on_gpu(OpLibrary& library) {
  for (const std::string op :
       {"FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"}) {
    library.kernel(gpu_kernel(op, check_fake_quant, compute_fake_quant));
    library.kernel(gpu_kernel(op + "Gradient", check_fake_quant, compute_fake_quant_gradient));
  }
}

}  // namespace troupe

// LRN and LRNGrad on GPUs: see lrn.cpp.
#include "kernels/ops/nn/lrn.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

using LrnTypes = TypeList<float, Half, BFloat16>;

/// The window of channels around each channel.
struct ChannelWindow {
  gpu::Divider depth;
  size_t radius;
  float bias, alpha, beta;

  explicit ChannelWindow(const Normalization& of)
      : depth(of.depth), radius(of.radius), bias(of.bias), alpha(of.alpha), beta(of.beta) {}

  /// Returns the sum of value(j) for the elements j in the window of element i.
  template <class Value>
  TROUPE_ANY float sum(size_t i, const Value& value) const {
    size_t pixel = i;
    const size_t channel = gpu::split(depth, pixel), first = i - channel;
    const size_t begin = channel < radius ? 0 : channel - radius;
    const size_t end = channel + radius < depth.divisor() ? channel + radius + 1 : depth.divisor();
    float total = 0;
    for (size_t c = begin; c < end; ++c) total += value(first + c);
    return total;
  }
  template <class T>
  TROUPE_ANY float norm(const T* x, size_t i) const {
    return bias + alpha * sum(i, [=](size_t j) {
                    const float value = gpu::load(x[j]);
                    return value * value;
                  });
  }
};

template <class T>
struct NormalizeResponses {
  ChannelWindow window;
  const T* x;
  T* y;
  TROUPE_ANY void operator()(size_t i) const {
    gpu::store(y[i], gpu::load(x[i]) * std::pow(window.norm(x, i), -window.beta));
  }
};

template <class T>
struct FindNorms {
  ChannelWindow window;
  const T* x;
  float* norms;
  TROUPE_ANY void operator()(size_t i) const { norms[i] = window.norm(x, i); }
};

/// dx_i = dy_i / norm_i^beta - 2 alpha beta x_i sum dy_j y_j / norm_j
template <class T>
struct NormalizeGradient {
  ChannelWindow window;
  const T *dy, *x, *y;
  const float* norms;
  T* dx;
  TROUPE_ANY void operator()(size_t i) const {
    const float sum =
        window.sum(i, [this](size_t j) { return gpu::load(dy[j]) * gpu::load(y[j]) / norms[j]; });
    gpu::store(dx[i], gpu::load(dy[i]) * std::pow(norms[i], -window.beta) -
                          2 * window.alpha * window.beta * gpu::load(x[i]) * sum);
  }
};

template <class T>
Status normalize(const LrnArguments& arguments, DeviceContext& device) {
  const ChannelWindow window(arguments.normalization);
  const auto output = arguments.output.write<T>();
  const auto input = [&](size_t i) { return arguments.inputs[i]->template as<T>().data(); };
  if (arguments.inputs.size() == 1)
    return gpu::each(device, output.size(), NormalizeResponses<T>{window, input(0), output.data()});
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, output.size() * sizeof(float)));
  auto* const norms = reinterpret_cast<float*>(memory->data);
  TROUPE_RETURN_IF_FAILED(gpu::each(device, output.size(), FindNorms<T>{window, input(1), norms}));
  return gpu::each(device, output.size(),
                   NormalizeGradient<T>{window, input(0), input(1), input(2), norms, output.data()});
}

Status compute_lrn(const LrnArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  return gpu::for_type(LrnTypes{}, arguments.output.dtype(),
                       [&]<class T>(std::type_identity<T>) { return normalize<T>(arguments, device); });
}

}  // namespace

void add_lrn_on_gpu(OpLibrary& library) {
  for (const char* op : {"LRN", "LRNGrad"})
    library.kernel(gpu_kernel(op, check_lrn, compute_lrn).on("T", dtypes(LrnTypes{})));
}

}  // namespace troupe

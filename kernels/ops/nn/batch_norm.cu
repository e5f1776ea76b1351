// FusedBatchNorm, FusedBatchNormGrad and their versions on GPUs: see batch_norm.cpp. The moments of x are found in one pass: it
// sums the distances of the elements from the first one of their channel and the squares of these distances.
#include "kernels/ops/nn/batch_norm.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"
#include "kernels/gpu/memory.h"

namespace troupe {
namespace {

using BatchNormTypes = TypeList<float, Half, BFloat16>;

gpu::ChannelBox box_of(const Channels& channels) {
  if (channels.last) return {channels.area, channels.channels, 1};
  return {channels.images, channels.channels, channels.area};
}

/// The channels of elements.
struct ChannelOf {
  gpu::Divider channels, spatial;

  explicit ChannelOf(const gpu::ChannelBox& box) : channels(box.channels), spatial(box.spatial) {}
  TROUPE_ANY size_t operator()(size_t i) const {
    i = spatial.quotient(i);
    return gpu::split(channels, i);
  }
  /// The channels of neighbouring elements are neighbours, or the same one.
  TROUPE_ANY bool are_neighbours() const { return spatial.divisor() == 1; }
  /// Returns whether that holds for `width` elements from a multiple of `width` on.
  bool allow(size_t width) const {
    return (are_neighbours() ? channels.divisor() : spatial.divisor()) % width == 0;
  }
};

/// How a tensor of T and `Vectors` vectors with a number for each channel lie while a kernel walks over the tensor.
template <size_t Tensors, size_t Vectors>
Result<gpu::Strides<Tensors + Vectors>> strides_of(const gpu::ChannelBox& box) {
  constexpr size_t sides = Tensors + Vectors;
  typename gpu::Strides<sides>::Axis axes[3] = {{box.batch, {}}, {box.channels, {}}, {box.spatial, {}}};
  for (size_t side = 0; side < sides; ++side) {
    const bool is_vector = side >= Tensors;
    axes[0].steps[side] = is_vector ? 0 : static_cast<ptrdiff_t>(box.channels * box.spatial);
    axes[1].steps[side] = is_vector ? 1 : static_cast<ptrdiff_t>(box.spatial);
    axes[2].steps[side] = is_vector ? 0 : 1;
  }
  return gpu::Strides<sides>::make(axes);
}

// ---- Forward

template <class T>
struct DistancesFromFirst {
  const T* x;
  ChannelOf channel_of;

  TROUPE_ANY float first_of(size_t channel) const {
    return gpu::load(x[channel * channel_of.spatial.divisor()]);
  }
  TROUPE_ANY gpu::TwoSums<float> of(T element, size_t channel) const {
    const float distance = gpu::load(element) - first_of(channel);
    return {distance, distance * distance};
  }
  TROUPE_ANY gpu::TwoSums<float> operator()(size_t i) const { return of(x[i], channel_of(i)); }

  static constexpr size_t width = 16 / sizeof(T);
  bool aligned() const { return gpu::is_aligned(x, 16) && channel_of.allow(width); }
  TROUPE_ANY void read(size_t i, gpu::TwoSums<float>* sums) const {
    const auto elements = *reinterpret_cast<const gpu::Pack<T, width>*>(x + i);
    const size_t channel = channel_of(i), step = channel_of.are_neighbours() ? 1 : 0;
    for (size_t k = 0; k < width; ++k) sums[k] = of(elements.items[k], channel + k * step);
  }
};

/// Writes the statistics of a channel from its sums.
template <class T>
struct WriteMoments {
  DistancesFromFirst<T> distances;
  double count;
  const float *mean, *variance;  ///< given
  float average;                 ///< how much the statistics of x count in the new averages
  float *batch_mean, *batch_variance, *saved_mean, *saved_variance;

  TROUPE_ANY float merged(double ours, const float* given, size_t channel) const {
    if (average == 1) return static_cast<float>(ours);
    return static_cast<float>(ours * double{average} + double{given[channel]} * (1 - double{average}));
  }
  TROUPE_ANY void operator()(size_t channel, const gpu::TwoSums<float>& sums) const {
    const double distance = double{sums.first} / count;
    const double squares = double{sums.second} / count - distance * distance;
    const double ours = double{distances.first_of(channel)} + distance;
    const double spread = squares < 0 ? 0 : squares;  // a NaN stays
    saved_mean[channel] = static_cast<float>(ours);
    saved_variance[channel] = static_cast<float>(spread);
    batch_mean[channel] = merged(ours, mean, channel);
    batch_variance[channel] = merged(spread * (count / (count > 1 ? count - 1 : 1)), variance, channel);
  }
};

template <class T>
Status write_moments(const BatchNormArguments& arguments, DeviceContext& device) {
  const gpu::ChannelBox box = box_of(arguments.channels);
  const DistancesFromFirst<T> distances{arguments.x.as<T>().data(), ChannelOf(box)};
  const WriteMoments<T> write{distances,
                              static_cast<double>(arguments.channels.count()),
                              arguments.mean.as<float>().data(),
                              arguments.variance.as<float>().data(),
                              arguments.average,
                              arguments.batch_mean.write<float>().data(),
                              arguments.batch_variance.write<float>().data(),
                              arguments.saved_mean.write<float>().data(),
                              arguments.saved_variance.write<float>().data()};
  return gpu::reduce_channels<gpu::TwoSums<float>>(device, box, gpu::Plus<gpu::TwoSums<float>>{}, distances,
                                                   write);
}

Status copy_given(const BatchNormArguments& arguments, DeviceContext& device) {
  const std::pair<const Tensor*, Tensor*> copies[] = {{&arguments.mean, &arguments.batch_mean},
                                                      {&arguments.mean, &arguments.saved_mean},
                                                      {&arguments.variance, &arguments.batch_variance},
                                                      {&arguments.variance, &arguments.saved_variance}};
  for (const auto& [from, to] : copies)
    TROUPE_RETURN_IF_FAILED(gpu::copy(device, from->data(), to->mutable_data(), to->bytes()));
  return {};
}

/// The statistics of an x without elements.
struct WriteNaN {
  float* vectors[4];
  TROUPE_ANY void operator()(size_t channel) const {
    for (float* const vector : vectors) vector[channel] = std::numeric_limits<float>::quiet_NaN();
  }
};

struct WriteFactor {
  const float *scale, *variance;
  float epsilon;
  float* factor;
  TROUPE_ANY void operator()(size_t channel) const {
    factor[channel] = scale[channel] * (1 / std::sqrt(variance[channel] + epsilon));
  }
};

struct Normalize {
  TROUPE_ANY float operator()(float x, float mean, float factor, float offset) const {
    return (x - mean) * factor + offset;
  }
};

template <class T>
Status normalize(const BatchNormArguments& arguments, DeviceContext& device) {
  const size_t channels = arguments.channels.channels;
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, channels * sizeof(float)));
  float* const factor = reinterpret_cast<float*>(memory->data);
  TROUPE_RETURN_IF_FAILED(
      gpu::each(device, channels,
                WriteFactor{arguments.scale.as<float>().data(), arguments.saved_variance.as<float>().data(),
                            arguments.epsilon, factor}));
  TROUPE_ASSIGN(const auto strides, (strides_of<1, 3>(box_of(arguments.channels))));
  const float* const const_factor = factor;
  return gpu::map_strided(device, Normalize{}, arguments.y.write<T>().size(), arguments.y.write<T>().data(),
                          strides, arguments.x.as<T>().data(), arguments.saved_mean.as<float>().data(),
                          const_factor, arguments.offset.as<float>().data());
}

Status compute_batch_norm(const BatchNormArguments& arguments, DeviceContext& device) {
  if (arguments.unused) TROUPE_RETURN_IF_FAILED(gpu::clear(device, *arguments.unused));
  if (arguments.x.elements() == 0)
    return gpu::each(
        device, arguments.channels.channels,
        WriteNaN{{arguments.batch_mean.write<float>().data(), arguments.batch_variance.write<float>().data(),
                  arguments.saved_mean.write<float>().data(),
                  arguments.saved_variance.write<float>().data()}});
  return gpu::for_type(BatchNormTypes{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) -> Status {
    TROUPE_RETURN_IF_FAILED(arguments.training ? write_moments<T>(arguments, device)
                                               : copy_given(arguments, device));
    return normalize<T>(arguments, device);
  });
}

// ---- Gradient

template <class T>
struct GradientSums {
  const T *gradient, *x;
  const float* mean;
  ChannelOf channel_of;

  TROUPE_ANY gpu::TwoSums<float> of(T gradient_element, T element, size_t channel) const {
    const float dy = gpu::load(gradient_element);
    return {dy, dy * (gpu::load(element) - mean[channel])};
  }
  TROUPE_ANY gpu::TwoSums<float> operator()(size_t i) const { return of(gradient[i], x[i], channel_of(i)); }

  static constexpr size_t width = 16 / sizeof(T);
  bool aligned() const {
    return gpu::is_aligned(gradient, 16) && gpu::is_aligned(x, 16) && channel_of.allow(width);
  }
  TROUPE_ANY void read(size_t i, gpu::TwoSums<float>* sums) const {
    const auto dy = *reinterpret_cast<const gpu::Pack<T, width>*>(gradient + i);
    const auto elements = *reinterpret_cast<const gpu::Pack<T, width>*>(x + i);
    const size_t channel = channel_of(i), step = channel_of.are_neighbours() ? 1 : 0;
    for (size_t k = 0; k < width; ++k) sums[k] = of(dy.items[k], elements.items[k], channel + k * step);
  }
};

/// What multiplies the gradient and the distance from the mean, and what is added.
struct Coefficients {
  float *by_gradient, *by_distance, *rest;
};

struct WriteCoefficients {
  double count;
  const float *scale, *variance;
  float epsilon;
  bool training;
  float *scale_gradient, *offset_gradient;
  Coefficients to;

  TROUPE_ANY void operator()(size_t channel, const gpu::TwoSums<float>& sums) const {
    const double inverse = 1 / std::sqrt(variance[channel] + epsilon);
    const double factor = double{scale[channel]} * inverse;
    const double sum = sums.first, product = sums.second;
    scale_gradient[channel] = static_cast<float>(product * inverse);
    offset_gradient[channel] = sums.first;
    to.by_gradient[channel] = static_cast<float>(factor);
    to.by_distance[channel] =
        training ? static_cast<float>(-factor * inverse * inverse * product / count) : 0;
    to.rest[channel] = training ? static_cast<float>(-factor * sum / count) : 0;
  }
};

struct CombineGradient {
  TROUPE_ANY float operator()(float dy, float x, float mean, float by_gradient, float by_distance,
                              float rest) const {
    return dy * by_gradient + (x - mean) * by_distance + rest;
  }
};

template <class T>
Status batch_norm_grad(const BatchNormGradArguments& arguments, DeviceContext& device) {
  const size_t channels = arguments.channels.channels;
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, 3 * channels * sizeof(float)));
  float* const numbers = reinterpret_cast<float*>(memory->data);
  const Coefficients to{numbers, numbers + channels, numbers + 2 * channels};
  const gpu::ChannelBox box = box_of(arguments.channels);
  const T *const gradient = arguments.gradient.as<T>().data(), *const x = arguments.x.as<T>().data();
  const float* const mean = arguments.mean.as<float>().data();
  const WriteCoefficients write{static_cast<double>(arguments.channels.count()),
                                arguments.scale.as<float>().data(),
                                arguments.variance.as<float>().data(),
                                arguments.epsilon,
                                arguments.training,
                                arguments.scale_gradient.write<float>().data(),
                                arguments.offset_gradient.write<float>().data(),
                                to};
  TROUPE_RETURN_IF_FAILED(
      gpu::reduce_channels<gpu::TwoSums<float>>(device, box, gpu::Plus<gpu::TwoSums<float>>{},
                                                GradientSums<T>{gradient, x, mean, ChannelOf(box)}, write));
  TROUPE_ASSIGN(const auto strides, (strides_of<2, 4>(box)));
  const auto vector = [](const float* data) { return data; };
  return gpu::map_strided(device, CombineGradient{}, arguments.x_gradient.write<T>().size(),
                          arguments.x_gradient.write<T>().data(), strides, gradient, x, mean,
                          vector(to.by_gradient), vector(to.by_distance), vector(to.rest));
}

Status compute_batch_norm_grad(const BatchNormGradArguments& arguments, DeviceContext& device) {
  if (arguments.x.elements() == 0) {
    TROUPE_RETURN_IF_FAILED(gpu::clear(device, arguments.scale_gradient));
    return gpu::clear(device, arguments.offset_gradient);
  }
  return gpu::for_type(BatchNormTypes{}, arguments.x.dtype(),
                       [&]<class T>(std::type_identity<T>) { return batch_norm_grad<T>(arguments, device); });
}

}  // namespace

void add_batch_norm_on_gpu(OpLibrary& library) {
  for (const std::string version : {"", "V2", "V3"}) {
    KernelDef forward = gpu_kernel("FusedBatchNorm" + version, check_batch_norm, compute_batch_norm),
              backward =
                  gpu_kernel("FusedBatchNormGrad" + version, check_batch_norm_grad, compute_batch_norm_grad);
    for (KernelDef* const kernel : {&forward, &backward}) {
      kernel->on("T", version.empty() ? std::vector{f32} : dtypes(BatchNormTypes{}));
      if (version == "V3") kernel->on("U", {f32});
      library.kernel(std::move(*kernel));
    }
  }
}

}  // namespace troupe

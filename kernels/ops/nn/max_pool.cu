// MaxPool and its gradients on GPUs: see max_pool.cpp. The gradient first finds which element of each window is the greatest; then
// each element of the input sums the gradients of the outputs that it is the greatest of.
#include "kernels/ops/nn/max_pool.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/pooling.h"

namespace troupe {
namespace {

using gpu::Pack;

template <class T, size_t Width>
struct FindGreatest {
  gpu::PoolShape shape;
  const Pack<T, Width>* input;
  Pack<T, Width>* output;

  TROUPE_ANY void operator()(size_t i) const {
    gpu::Wide<T> best[Width];
    for (auto& value : best) value = -std::numeric_limits<gpu::Wide<T>>::infinity();
    shape.for_covered(shape.output.place(i), [&](size_t from, const auto&) {
      const Pack<T, Width> values = input[from];
      for (size_t k = 0; k < Width; ++k) {
        const auto value = gpu::load(values.items[k]);
        if (value > best[k]) best[k] = value;  // not a NaN
      }
    });
    output[i] = gpu::packed<T>(best);
  }
};

/// The number of an element in its window; `no_element` if a window has only NaN. Packs are used for small windows alone.
template <size_t Width>
using Number = std::conditional_t<Width == 1, uint32_t, uint8_t>;
template <size_t Width>
constexpr Number<Width> no_element = std::numeric_limits<Number<Width>>::max();
template <size_t Width>
using Numbers = Pack<Number<Width>, Width>;

/// Finds the first of the greatest elements of each window. If `keeps_nan`, a NaN that comes first is the greatest.
template <class T, size_t Width>
struct FindNumbers {
  gpu::PoolShape shape;
  const Pack<T, Width>* input;
  Numbers<Width>* numbers;
  bool keeps_nan;

  TROUPE_ANY void operator()(size_t i) const {
    const gpu::Place place = shape.output.place(i);
    gpu::Wide<T> best[Width];
    for (auto& value : best) value = -std::numeric_limits<gpu::Wide<T>>::infinity();
    Numbers<Width> found;
    for (auto& number : found.items) number = no_element<Width>;
    shape.for_covered(place, [&](size_t from, const int(&at)[3]) {
      const Pack<T, Width> values = input[from];
      const auto number = static_cast<Number<Width>>(shape.number(place.at, at));
      for (size_t k = 0; k < Width; ++k) {
        const auto value = gpu::load(values.items[k]);
        const bool first = found.items[k] == no_element<Width> && (keeps_nan || value == best[k]);
        if (!(value > best[k] || first)) continue;
        best[k] = value;
        found.items[k] = number;
      }
    });
    numbers[i] = found;
  }
};

template <class T, size_t Width>
struct SumGradients {
  gpu::PoolShape shape;
  const Numbers<Width>* numbers;
  const Pack<T, Width>* gradient;
  Pack<T, Width>* output;

  TROUPE_ANY void operator()(size_t i) const {
    const gpu::Place place = shape.input.place(i);
    gpu::Wide<T> sums[Width] = {};
    shape.for_covering(place, [&](size_t from, const int(&at)[3]) {
      const Numbers<Width> greatest = numbers[from];
      const Pack<T, Width> values = gradient[from];
      const auto number = static_cast<Number<Width>>(shape.number(at, place.at));
      for (size_t k = 0; k < Width; ++k)
        if (greatest.items[k] == number) sums[k] += gpu::load(values.items[k]);
    });
    output[i] = gpu::packed<T>(sums);
  }
};

/// Each output gets the gradient of the greatest element of its window.
template <class T, size_t Width>
struct TakeGradients {
  gpu::PoolShape shape;
  const Numbers<Width>* numbers;
  const Pack<T, Width>* gradient;
  Pack<T, Width>* output;

  TROUPE_ANY void operator()(size_t i) const {
    const gpu::Place place = shape.output.place(i);
    const Numbers<Width> greatest = numbers[i];
    Pack<T, Width> result;
    for (T& item : result.items) gpu::store(item, 0);
    shape.for_covered(place, [&](size_t from, const int(&at)[3]) {
      const Pack<T, Width> values = gradient[from];
      const auto number = static_cast<Number<Width>>(shape.number(place.at, at));
      for (size_t k = 0; k < Width; ++k)
        if (greatest.items[k] == number) result.items[k] = values.items[k];
    });
    output[i] = result;
  }
};

Status compute_max_pool(const MaxPoolArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const input = arguments.input.as<T>().data();
    T* const output = arguments.output.write<T>().data();
    const auto compute = [&]<size_t Width>(std::integral_constant<size_t, Width>) {
      const gpu::PoolShape shape(arguments.pooling, Width);
      return gpu::each(device, shape.output.elements(),
                       FindGreatest<T, Width>{shape, gpu::packs<Width>(input), gpu::packs<Width>(output)});
    };
    return gpu::with_channels<T>(arguments.pooling, {input, output}, compute);
  });
}

template <class T, bool Second>
Status max_pool_grad(const MaxPoolGradArguments& arguments, DeviceContext& device) {
  const T* const input = arguments.input.as<T>().data();
  const T* const gradient = arguments.gradient.as<T>().data();
  T* const output = arguments.output.write<T>().data();
  const auto compute = [&]<size_t Width>(std::integral_constant<size_t, Width>) -> Status {
    const gpu::PoolShape shape(arguments.pooling, Width);
    const size_t windows = shape.output.elements();
    TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, windows * sizeof(Numbers<Width>)));
    auto* const numbers = reinterpret_cast<Numbers<Width>*>(memory->data);
    TROUPE_RETURN_IF_FAILED(
        gpu::each(device, windows, FindNumbers<T, Width>{shape, gpu::packs<Width>(input), numbers, Second}));
    using Last = std::conditional_t<Second, TakeGradients<T, Width>, SumGradients<T, Width>>;
    return gpu::each(device, Second ? windows : shape.input.elements(),
                     Last{shape, numbers, gpu::packs<Width>(gradient), gpu::packs<Width>(output)});
  };
  const bool fits_byte = gpu::PoolShape(arguments.pooling).most_covered() <= no_element<4>;
  if (!fits_byte) return compute(std::integral_constant<size_t, 1>{});
  return gpu::with_channels<T>(arguments.pooling, {input, gradient, output}, compute);
}

template <bool Second>
Status compute_gradient(const MaxPoolGradArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  if (arguments.gradient.elements() == 0) return gpu::clear(device, arguments.output);
  return gpu::for_type(gpu::AllFloats{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    return max_pool_grad<T, Second>(arguments, device);
  });
}

/// Adds the kernel of MaxPool3DGrad for each type; it has two type attributes.
template <class... T>
void add_volume_gradient(OpLibrary& library, TypeList<T...>) {
  (library.kernel(gpu_kernel("MaxPool3DGrad", check_max_pool_grad, compute_gradient<false>)
                      .on("T", {dtype_of<T>})
                      .on("TInput", {dtype_of<T>})),
   ...);
}

}  // namespace

void add_max_pool_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::AllFloats{});
  for (const char* op : {"MaxPool", "MaxPoolV2"})
    library.kernel(gpu_kernel(op, check_max_pool, compute_max_pool).on("T", types));
  for (const char* op : {"MaxPoolGrad", "MaxPoolGradV2"})
    library.kernel(gpu_kernel(op, check_max_pool_grad, compute_gradient<false>).on("T", types));
  for (const char* op : {"MaxPoolGradGrad", "MaxPoolGradGradV2"})
    library.kernel(gpu_kernel(op, check_max_pool_grad_grad, compute_gradient<true>).on("T", types));
  using VolumeTypes = TypeList<float, Half, BFloat16>;
  const auto of_volumes = dtypes(VolumeTypes{});
  library.kernel(gpu_kernel("MaxPool3D", check_max_pool, compute_max_pool).on("T", of_volumes));
  add_volume_gradient(library, VolumeTypes{});
  library.kernel(
      gpu_kernel("MaxPool3DGradGrad", check_max_pool_grad_grad, compute_gradient<true>).on("T", of_volumes));
}

}  // namespace troupe

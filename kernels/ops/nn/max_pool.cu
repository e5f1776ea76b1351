// MaxPool and its gradients on GPUs: see max_pool.cpp. The gradient first finds where the greatest element of each window stands;
// then each element of the input sums the gradients of the outputs that it is the greatest of.
#include "kernels/ops/nn/max_pool.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/pooling.h"

namespace troupe {
namespace {

template <class T>
struct FindGreatest {
  gpu::PoolShape shape;
  const T* input;
  T* output;

  TROUPE_ANY void operator()(size_t i) const {
    gpu::Wide<T> best = -std::numeric_limits<gpu::Wide<T>>::infinity();
    shape.for_covered(shape.output.place(i), [&](size_t from, const auto&) {
      const auto value = gpu::load(input[from]);
      if (value > best) best = value;  // not a NaN
    });
    gpu::store(output[i], best);
  }
};

/// Finds the first of the greatest elements of each window, as the element's number in the input; -1 if there are only NaN. If
/// `keeps_nan`, a NaN that comes first is the greatest.
template <class T>
struct FindPlaces {
  gpu::PoolShape shape;
  const T* input;
  int64_t* places;
  bool keeps_nan;

  TROUPE_ANY void operator()(size_t i) const {
    gpu::Wide<T> best = -std::numeric_limits<gpu::Wide<T>>::infinity();
    int64_t place = -1;
    shape.for_covered(shape.output.place(i), [&](size_t from, const auto&) {
      const auto value = gpu::load(input[from]);
      if (!(value > best || (place < 0 && (keeps_nan || value == best)))) return;
      best = value;
      place = static_cast<int64_t>(from);
    });
    places[i] = place;
  }
};

template <class T>
struct SumGradients {
  gpu::PoolShape shape;
  const int64_t* places;
  const T* gradient;
  T* output;

  TROUPE_ANY void operator()(size_t i) const {
    gpu::Wide<T> sum = 0;
    shape.for_covering(shape.input.place(i), [&](size_t from, const auto&) {
      if (places[from] == static_cast<int64_t>(i)) sum += gpu::load(gradient[from]);
    });
    gpu::store(output[i], sum);
  }
};

template <class T>
struct TakeGradients {
  const int64_t* places;
  const T* gradient;
  T* output;

  TROUPE_ANY void operator()(size_t i) const {
    if (places[i] < 0)
      gpu::store(output[i], 0);
    else
      output[i] = gradient[places[i]];
  }
};

Status compute_max_pool(const MaxPoolArguments& arguments, DeviceContext& device) {
  const auto n = static_cast<size_t>(arguments.output.elements());
  if (n == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, n,
                     FindGreatest<T>{gpu::PoolShape(arguments.pooling), arguments.input.as<T>().data(),
                                     arguments.output.write<T>().data()});
  });
}

template <class T, bool Second>
Status max_pool_grad(const MaxPoolGradArguments& arguments, DeviceContext& device) {
  const gpu::PoolShape shape(arguments.pooling);
  const size_t windows = shape.output.elements();
  const T* const gradient = arguments.gradient.as<T>().data();
  const auto output = arguments.output.write<T>();
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, windows * sizeof(int64_t)));
  auto* const places = reinterpret_cast<int64_t*>(memory->data);
  TROUPE_RETURN_IF_FAILED(
      gpu::each(device, windows, FindPlaces<T>{shape, arguments.input.as<T>().data(), places, Second}));
  if constexpr (Second)
    return gpu::each(device, output.size(), TakeGradients<T>{places, gradient, output.data()});
  else
    return gpu::each(device, output.size(), SumGradients<T>{shape, places, gradient, output.data()});
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
  for (const char* op : {"MaxPool", "MaxPoolV2", "MaxPool3D"})
    library.kernel(gpu_kernel(op, check_max_pool, compute_max_pool).on("T", types));
  for (const char* op : {"MaxPoolGrad", "MaxPoolGradV2"})
    library.kernel(gpu_kernel(op, check_max_pool_grad, compute_gradient<false>).on("T", types));
  add_volume_gradient(library, TypeList<float, Half, BFloat16>{});
  for (const char* op : {"MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGradGrad"})
    library.kernel(gpu_kernel(op, check_max_pool_grad_grad, compute_gradient<true>).on("T", types));
}

}  // namespace troupe

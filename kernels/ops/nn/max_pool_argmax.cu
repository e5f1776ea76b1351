// MaxPoolWithArgmax and its gradients on GPUs: see max_pool_argmax.cpp.
#include "kernels/ops/nn/max_pool_argmax.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/pooling.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

// ---- MaxPoolWithArgmax

/// Finds the first of the greatest elements of each window. A NaN that comes first is the greatest.
template <class T>
struct FindArgmax {
  gpu::PoolShape shape;
  ImageIndices indices;
  const T* input;
  T* output;
  void* argmax;
  bool wide;  ///< whether argmax is int64, not int32

  TROUPE_ANY void operator()(size_t i) const {
    const gpu::Place place = shape.output.place(i);
    int64_t found = -1;
    gpu::Wide<T> best = 0;
    shape.for_covered(place, [&](size_t from, const auto&) {
      const gpu::Wide<T> value = gpu::load(input[from]);
      if (found >= 0 && !(value > best)) return;
      best = value;
      found = static_cast<int64_t>(from);
    });
    gpu::store(output[i], best);
    const int64_t index = indices.index(found, place.image);
    if (wide)
      static_cast<int64_t*>(argmax)[i] = index;
    else
      static_cast<int32_t*>(argmax)[i] = static_cast<int32_t>(index);
  }
};

Status compute_argmax(const ArgmaxArguments& arguments, DeviceContext& device) {
  const size_t outputs = static_cast<size_t>(arguments.output.elements());
  if (outputs == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(
        device, outputs,
        FindArgmax<T>{gpu::PoolShape(arguments.pooling), arguments.indices, arguments.input.as<T>().data(),
                      arguments.output.write<T>().data(), arguments.argmax.mutable_data(),
                      arguments.argmax.dtype() == DType::Int64});
  });
}

// ---- The gradients

/// Where argmax says that the pooled elements come from.
struct Sources {
  gpu::PoolShape shape;
  ImageIndices indices;
  gpu::Indices argmax;
  gpu::FaultReport report;

  Sources(const ArgmaxGradArguments& arguments, DeviceContext& device)
      : shape(arguments.pooling), indices(arguments.indices), argmax(arguments.argmax),
        report(gpu::fault_report(device, "argmax = {} is not the index of an element of image {}")) {}

  /// Returns the place in the input; -1 if the image has no such element.
  TROUPE_ANY int64_t operator()(size_t pooled, size_t image) const {
    return indices.place(argmax(pooled), image);
  }
  /// The same, and reports what no image has.
  TROUPE_ANY int64_t checked(size_t pooled, size_t image) const {
    const int64_t place = (*this)(pooled, image);
    if (place < 0) report(argmax(pooled), static_cast<int64_t>(image));
    return place;
  }
};

/// Marks the images with an index that is outside its window, which only callers that make indices of their own give.
struct FindStrays {
  Sources sources;
  uint32_t* has_strays;  ///< of each image

  TROUPE_ANY void operator()(size_t pooled) const {
    const gpu::Place window = sources.shape.output.place(pooled);
    const int64_t from = sources.checked(pooled, window.image);
    if (from < 0) return;
    const gpu::Place place = sources.shape.input.place(static_cast<size_t>(from));
    bool inside = place.channel == window.channel;
    for (int axis = 0; axis < 3; ++axis) {
      const gpu::Span span = sources.shape.axes[axis].covered(window.at[axis]);
      inside = inside && place.at[axis] >= span.begin && place.at[axis] < span.end;
    }
    if (!inside) has_strays[window.image] = 1;  // all threads that write here write the same
  }
};

/// Each element of the input sums the gradients of its windows, or in an image with strays those of all windows, in their order.
template <class T>
struct SumArgmaxGradients {
  Sources sources;
  const uint32_t* has_strays;
  size_t windows;  ///< of an image
  const T* gradient;
  T* output;

  TROUPE_ANY void operator()(size_t i) const {
    const gpu::Place place = sources.shape.input.place(i);
    gpu::Wide<T> sum = 0;
    const auto add = [&](size_t pooled) {
      if (sources(pooled, place.image) == static_cast<int64_t>(i)) sum += gpu::load(gradient[pooled]);
    };
    if (has_strays[place.image] == 0)
      sources.shape.for_covering(place, [&](size_t pooled, const auto&) { add(pooled); });
    else
      for (size_t k = 0; k < windows; ++k) add(place.image * windows + k);
    gpu::store(output[i], sum);
  }
};

Status compute_argmax_gradient(const ArgmaxGradArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  const Sources sources(arguments, device);
  const auto batch = static_cast<size_t>(arguments.pooling.batch),
             pooled = static_cast<size_t>(arguments.argmax.elements());
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, batch * sizeof(uint32_t)));
  auto* const has_strays = reinterpret_cast<uint32_t*>(memory->data);
  TROUPE_RETURN_IF_FAILED(gpu::clear(device, has_strays, batch * sizeof(uint32_t)));
  TROUPE_RETURN_IF_FAILED(gpu::each(device, pooled, FindStrays{sources, has_strays}));
  TROUPE_RETURN_IF_FAILED(gpu::check_fault(device));
  return gpu::for_type(gpu::AllFloats{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(
        device, static_cast<size_t>(arguments.output.elements()),
        SumArgmaxGradients<T>{sources, has_strays, pooled / batch, arguments.gradient.as<T>().data(),
                              arguments.output.write<T>().data()});
  });
}

/// Each pooled element gets the gradient of the element that it comes from.
template <class T>
struct TakeArgmaxGradients {
  Sources sources;
  const T* gradient;
  T* output;

  TROUPE_ANY void operator()(size_t pooled) const {
    const int64_t from = sources.checked(pooled, sources.shape.output.place(pooled).image);
    output[pooled] = from < 0 ? T{} : gradient[from];
  }
};

Status compute_second_gradient(const ArgmaxGradArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  const Sources sources(arguments, device);
  TROUPE_RETURN_IF_FAILED(gpu::with_stored(arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, static_cast<size_t>(arguments.output.elements()),
                     TakeArgmaxGradients<T>{sources, gpu::stored<T>(arguments.gradient),
                                            gpu::stored<T>(arguments.output)});
  }));
  return gpu::check_fault(device);
}

}  // namespace

void add_max_pool_argmax_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::AllFloats{});
  library.kernel(gpu_kernel("MaxPoolWithArgmax", check_argmax, compute_argmax).on("T", types));
  library.kernel(
      gpu_kernel("MaxPoolGradWithArgmax", check_argmax_grad, compute_argmax_gradient).on("T", types));
  library.kernel(gpu_kernel("MaxPoolGradGradWithArgmax", check_argmax_grad_grad, compute_second_gradient)
                     .on("T", types));
}

}  // namespace troupe

// QuantizeAndDequantize and its versions on GPUs: see quantize_and_dequantize.cpp. Ranges of elements leave
// out NaN.
#include "kernels/ops/quantized/quantize_and_dequantize.h"

#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gpu_kernel.h"

namespace troupe {
namespace {

/// Writes how the elements of each range are rounded.
template <class Number>
struct RoundingSink {
  Rounding<Number>* roundings;
  double lowest, highest;

  TROUPE_ANY void operator()(size_t range, const ElementRange<Number>& values) const {
    roundings[range] = Rounding<Number>(values.min, values.max, lowest, highest);
  }
};

/// Passes on the ranges that inputs, or else attributes, have.
template <class T>
struct GivenRanges {
  const T *min, *max;  ///< null where attributes have the range
  float low, high;
  RoundingSink<gpu::Wide<T>> sink;
  gpu::FaultReport report;

  TROUPE_ANY void operator()(size_t range) const {
    using Number = gpu::Wide<T>;
    const ElementRange<Number> values =
        min ? ElementRange<Number>{gpu::load(min[range]), gpu::load(max[range])}
            : ElementRange<Number>{low, high};
    if (values.min > values.max) report(static_cast<int64_t>(range), 0);
    sink(range, values);
  }
};

/// The elements as the least and the greatest of themselves.
template <class T>
struct EachElement {
  const T* data;
  TROUPE_ANY ElementRange<gpu::Wide<T>> operator()(size_t i) const {
    const gpu::Wide<T> x = gpu::load(data[i]);
    return {x, x};
  }
};

template <class T>
struct RoundToSteps {
  const T* x;
  T* y;
  const Rounding<gpu::Wide<T>>* roundings;
  gpu::ElementAxis axis;  ///< that of the ranges
  bool clamps, up;

  TROUPE_ANY void operator()(size_t i) const {
    gpu::store(y[i], roundings[axis.index_of(i)](gpu::load(x[i]), clamps, up));
  }
};

template <class T>
Status find_ranges(const RoundingArguments& arguments, const RoundingSink<gpu::Wide<T>>& sink,
                   DeviceContext& device) {
  const auto data = [](const Tensor* tensor) { return tensor ? tensor->as<T>().data() : nullptr; };
  if (arguments.given)
    return gpu::each(
        device, arguments.ranges,
        GivenRanges<T>{data(arguments.min), data(arguments.max), arguments.low, arguments.high, sink,
                       gpu::fault_report(device, "input_min is above input_max in range {}")});
  const size_t outer = arguments.output.shape().elements() / (arguments.ranges * arguments.inner);
  return gpu::reduce_channels<ElementRange<gpu::Wide<T>>>(device, {outer, arguments.ranges, arguments.inner},
                                                          JoinRanges<gpu::Wide<T>>{},
                                                          EachElement<T>{data(&arguments.input)}, sink);
}

template <class T>
Status round_all(const RoundingArguments& arguments, DeviceContext& device) {
  using Number = gpu::Wide<T>;
  const auto n = static_cast<size_t>(arguments.input.elements());
  if (n == 0) return {};
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, arguments.ranges * sizeof(Rounding<Number>)));
  auto* const roundings = reinterpret_cast<Rounding<Number>*>(memory->data);
  TROUPE_RETURN_IF_FAILED(
      find_ranges<T>(arguments, {roundings, arguments.lowest, arguments.highest}, device));
  TROUPE_RETURN_IF_FAILED(gpu::each(
      device, n,
      RoundToSteps<T>{arguments.input.as<T>().data(), arguments.output.write<T>().data(), roundings,
                      gpu::ElementAxis(arguments.inner, arguments.ranges), arguments.given, arguments.up}));
  return gpu::check_fault(device);
}

Status compute_rounding(const RoundingArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.input.dtype(),
                       [&]<class T>(std::type_identity<T>) { return round_all<T>(arguments, device); });
}

}  // namespace

void add_quantize_and_dequantize_on_gpu(OpLibrary& library) {
  for (const char* op : {"QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3"})
    library.kernel(gpu_kernel(op, check_rounding, compute_rounding).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe

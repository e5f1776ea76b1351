// Quantised tensors: integers that stand for floats in a range [min, max], of which each integer is a step. The range travels with
// the tensor as two float tensors. Source: tensorflow/core/kernels/quantization_utils.h, whose roundings these are. Free functions
// and values without state; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {

using QuantizedTypes = TypeList<QInt8, QUInt8, QInt16, QUInt16, QInt32>;
/// In definitions of ops.
inline constexpr const char* quantized_types = "{qint8, quint8, qint16, quint16, qint32}";

/// The integers of a quantised type.
template <class T>
using StorageOf = decltype(T::value);
template <class T>
constexpr double lowest_step() {
  return std::numeric_limits<StorageOf<T>>::min();
}
template <class T>
constexpr double highest_step() {
  return std::numeric_limits<StorageOf<T>>::max();
}
/// Returns how many steps the range of a type has, less one.
template <class T>
constexpr double step_count() {
  return highest_step<T>() - lowest_step<T>();
}

/// Returns the step nearest to a whole number; for NaN the lowest one.
template <class T>
T clamped_step(double number) {
  const double step = number > lowest_step<T>() ? std::min(number, highest_step<T>()) : lowest_step<T>();
  return T{static_cast<StorageOf<T>>(step)};
}

struct FloatRange {
  float min, max;

  float width() const { return max - min; }
};

/// Returns the float between two neighbouring steps.
template <class T>
float step_width(FloatRange range) {
  return static_cast<float>(static_cast<double>(range.width()) / step_count<T>());
}

/// Returns the step that stands for a float, as if the type had steps without end.
template <class T>
double unclamped_step(float number, FloatRange range) {
  if (range.min == range.max) return lowest_step<T>();
  const double scale = step_count<T>() / static_cast<double>(range.width());
  return std::round(static_cast<double>(number) * scale) -
         std::round(static_cast<double>(range.min) * scale) + lowest_step<T>();
}

/// Returns the nearest step to a float.
template <class T>
T nearest_step(float number, FloatRange range) {
  return clamped_step<T>(unclamped_step<T>(number, range));
}

/// Returns the float that a step stands for, computed in double.
template <class T>
float value_of(T step, FloatRange range) {
  if (range.min == range.max) return range.min;
  const double width = static_cast<double>(range.width()) / step_count<T>();
  const auto rounded_width = static_cast<double>(static_cast<float>(width));
  const double first = std::round(static_cast<double>(range.min) / rounded_width) * rounded_width;
  return static_cast<float>(first + (static_cast<double>(step.value) - lowest_step<T>()) * width);
}

/// Makes floats steps of a range. Constant.
template <class T>
class Quantizer {
 public:
  explicit Quantizer(FloatRange range)
      : scale_(range.min == range.max
                   ? 0
                   : static_cast<float>(step_count<T>() / static_cast<double>(range.width()))),
        offset_(std::round(range.min * scale_) - static_cast<float>(lowest_step<T>())) {}
  T operator()(float number) const {
    // The greatest float that is an int32; all steps of the other types are floats.
    constexpr float most = std::min(static_cast<float>(highest_step<T>()), 2147483520.0F);
    const float step = std::round(number * scale_) - offset_;
    return T{static_cast<StorageOf<T>>(step > static_cast<float>(lowest_step<T>()) ? std::min(step, most)
                                                                                   : lowest_step<T>())};
  }

 private:
  const float scale_, offset_;
};

/// Makes steps of a range floats. Constant.
template <class T>
class Dequantizer {
 public:
  explicit Dequantizer(FloatRange range)
      : scale_(step_width<T>(range)),
        first_((range.min == range.max ? range.min : std::round(range.min / scale_) * scale_) -
               static_cast<float>(lowest_step<T>()) * scale_) {}
  float operator()(T step) const { return first_ + static_cast<float>(step.value) * scale_; }

 private:
  const float scale_, first_;
};

/// Returns the range of products of steps: one step of C is one step of A times one of B.
template <class A, class B, class C>
FloatRange product_range(FloatRange a, FloatRange b) {
  const float step = step_width<A>(a) * step_width<B>(b);
  return {step * static_cast<float>(lowest_step<C>()), step * static_cast<float>(highest_step<C>())};
}

/// Fails with InvalidArgument unless inputs `first`, the minimum, and `first` + 1, the maximum, hold one float each.
Status check_range_shapes(const KernelContext& context, size_t first);
/// Returns that range. Its elements are in device memory: for compute functions.
inline FloatRange range_of(const Tensor& min, const Tensor& max) {
  return {min.as<float>()[0], max.as<float>()[0]};
}
/// Fails with InvalidArgument "max_a is 1.0; it must be greater than min_a, which is 2.0" unless it is.
Status check_order(FloatRange range, const std::string& name);

/// A range that is an output. Both tensors are scalars.
struct RangeOutput {
  Tensor &min, &max;

  void write(FloatRange range) const {
    min.write<float>()[0] = range.min;
    max.write<float>()[0] = range.max;
  }
};
/// Allocates outputs 1 and 2.
Result<RangeOutput> range_output(KernelContext& context);
/// For shape functions: output 0 has this shape, and outputs 1 and 2 are scalars. Inputs from `first_range` on are ranges.
Status quantized_shape(ShapeContext& context, PartialShape shape, size_t first_range);

}  // namespace troupe

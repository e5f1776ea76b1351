#include "apps/golden/compare.h"

#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

namespace troupe::golden {
namespace {

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

bool close(double got, double expected, const Tolerance& tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  return std::isfinite(got) && std::isfinite(expected) &&
         std::abs(got - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

/// Returns the elements of a tensor of floating point or complex numbers; a complex number yields two.
template <class Part>
std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers;
  const auto* const parts = reinterpret_cast<const Part*>(tensor.data());
  const size_t count = tensor.bytes() / sizeof(Part);
  numbers.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_arithmetic_v<Part>)
      numbers.push_back(static_cast<double>(parts[i]));
    else
      numbers.push_back(static_cast<double>(static_cast<float>(parts[i])));
  }
  return numbers;
}

std::optional<std::vector<double>> floating_numbers(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float: return numbers_of<float>(tensor);
    case DType::Double: return numbers_of<double>(tensor);
    case DType::Half: return numbers_of<Half>(tensor);
    case DType::BFloat16: return numbers_of<BFloat16>(tensor);
    case DType::Complex64: return numbers_of<float>(tensor);
    case DType::Complex128: return numbers_of<double>(tensor);
    default: return std::nullopt;
  }
}

std::string floating_difference(const std::vector<double>& got, const std::vector<double>& expected,
                                const Shape& shape, const Tolerance& tolerance) {
  std::string first;
  double absolute = 0, relative = 0;
  size_t wrong = 0;
  const size_t parts = got.empty() ? 1 : got.size() / static_cast<size_t>(shape.elements());
  for (size_t i = 0; i < got.size(); ++i) {
    if (close(got[i], expected[i], tolerance)) continue;
    if (wrong++ == 0)
      first = position_text(static_cast<int64_t>(i / parts), shape) + " is " + shown(got[i]) + ", expected " +
              shown(expected[i]);
    const double error = std::abs(got[i] - expected[i]);
    absolute = std::max(absolute, std::isnan(error) ? HUGE_VAL : error);
    relative = std::max(relative, std::isnan(error) ? HUGE_VAL : error / std::abs(expected[i]));
  }
  if (wrong == 0) return {};
  return first + "; " + std::to_string(wrong) + " of " + std::to_string(got.size()) +
         " numbers differ; the largest absolute error is " + shown(absolute) +
         ", the largest relative error " + shown(relative);
}

template <class T>
std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return "'" + value + "'";
  else
    return std::to_string(value);
}

template <class T>
std::string exact_difference(const Tensor& got, const Tensor& expected) {
  const auto a = got.as<T>(), b = expected.as<T>();
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i])
      return position_text(static_cast<int64_t>(i), got.shape()) + " is " + element_text(a[i]) +
             ", expected " + element_text(b[i]);
  return {};
}

std::string exact_difference(const Tensor& got, const Tensor& expected) {
  switch (got.dtype()) {
    case DType::Int8: return exact_difference<int8_t>(got, expected);
    case DType::UInt8: return exact_difference<uint8_t>(got, expected);
    case DType::Int16: return exact_difference<int16_t>(got, expected);
    case DType::UInt16: return exact_difference<uint16_t>(got, expected);
    case DType::UInt32: return exact_difference<uint32_t>(got, expected);
    case DType::UInt64: return exact_difference<uint64_t>(got, expected);
    case DType::Int32: return exact_difference<int32_t>(got, expected);
    case DType::Int64: return exact_difference<int64_t>(got, expected);
    case DType::Bool: return exact_difference<bool>(got, expected);
    case DType::String: return exact_difference<std::string>(got, expected);
    default: return identical(got, expected) ? std::string() : "the bits differ";
  }
}

}  // namespace

std::string difference(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
  if (got.dtype() != expected.dtype() || !(got.shape() == expected.shape()))
    return "is " + got.signature() + ", expected " + expected.signature();
  const auto numbers = floating_numbers(got);
  if (!numbers) return exact_difference(got, expected);
  return floating_difference(*numbers, *floating_numbers(expected), got.shape(), tolerance);
}

}  // namespace troupe::golden

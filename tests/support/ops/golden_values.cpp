#include "tests/support/ops/golden_values.h"

#include <charconv>
#include <cmath>

#include "kernels/core/type_dispatch.h"

namespace troupe::test {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw Error(invalid_argument("'" + std::string(text) + "' does not describe a tensor"));
}

template <class T>
T parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(text);
  return value;
}

}  // namespace

std::string string_from_text(std::string_view text) {
  if (text == "%") return {};
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    int code = 0;
    std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16);
    result += static_cast<char>(code);
    i += 2;
  }
  return result;
}

namespace {

using Types = Joined<PlainTypes, TypeList<std::string, QInt8, QUInt8, QInt16, QUInt16, QInt32>>;

template <class T>
concept QuantizedInteger = requires(T value) {
  value.value;
};

template <class T>
T element(std::string_view text) {
  if constexpr (std::is_same_v<T, bool>) {
    return parsed<int>(text) != 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return string_from_text(text);
  } else if constexpr (QuantizedInteger<T>) {
    return T{parsed<decltype(T::value)>(text)};
  } else if constexpr (!std::is_same_v<T, ComputeType<T>>) {
    return T(parsed<float>(text));
  } else if constexpr (is_complex_type<T>) {
    const auto two = parts_of(text, ',');
    if (two.size() != 2) refuse(text);
    return {parsed<typename T::value_type>(two[0]), parsed<typename T::value_type>(two[1])};
  } else {
    return parsed<T>(text);
  }
}

template <class T>
bool agree(T got, T expected, Tolerance tolerance) {
  if constexpr (!std::is_same_v<T, ComputeType<T>>) {
    return agree(static_cast<float>(got), static_cast<float>(expected), tolerance);
  } else if constexpr (is_complex_type<T>) {
    tolerance.absolute =
        std::max(tolerance.absolute, tolerance.relative * std::abs(std::complex<double>(expected)));
    return agree(got.real(), expected.real(), tolerance) && agree(got.imag(), expected.imag(), tolerance);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(expected)) return std::isnan(got);
    const bool exact = tolerance.relative == 0 && tolerance.absolute == 0;
    if (got == expected) return !exact || std::signbit(got) == std::signbit(expected);
    const double a = got, b = expected;
    const double allowed =
        std::max(tolerance.absolute, tolerance.relative * std::max(std::abs(a), std::abs(b)));
    return std::isfinite(b) && std::abs(a - b) <= allowed;
  } else {
    return got == expected;
  }
}

template <class T>
std::string shown(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (QuantizedInteger<T>) {
    return shown(value.value);
  } else if constexpr (is_complex_type<T>) {
    return shown(value.real()) + ',' + shown(value.imag());
  } else if constexpr (!std::is_same_v<T, ComputeType<T>>) {
    return shown(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "1" : "0";
  } else {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
  }
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != std::string_view::npos && !text.empty(); text.remove_prefix(end + 1)) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return parts;
}

Tensor tensor_from_text(std::string_view text) {
  const auto words = parts_of(text, ' ');
  const size_t open = text.find('[');
  if (words.empty() || open == std::string_view::npos || words[0].back() != ']') refuse(text);
  const DType dtype = value_or_throw(dtype_from_name(text.substr(0, open)));
  std::vector<int64_t> dims;
  for (const auto dim : parts_of(words[0].substr(open + 1, words[0].size() - open - 2), ','))
    dims.push_back(parsed<int64_t>(dim));
  Tensor tensor = value_or_throw(Tensor::allocate(dtype, value_or_throw(Shape::make(dims, dtype))));
  if (words.size() - 1 != static_cast<size_t>(tensor.elements())) refuse(text);
  with_type(Types{}, dtype, [&]<class T>(std::type_identity<T>) {
    const auto values = tensor.write<T>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = element<T>(words[i + 1]);
  });
  return tensor;
}

std::string difference(const Tensor& got, const Tensor& expected, Tolerance tolerance) {
  if (got.dtype() != expected.dtype() || !(got.shape() == expected.shape()))
    return got.signature() + ", expected " + expected.signature();
  std::string result;
  with_type(Types{}, got.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto a = got.as<T>(), b = expected.as<T>();
    for (size_t i = 0; i < a.size() && result.empty(); ++i)
      if (!agree<T>(a[i], b[i], tolerance))
        result = "element " + std::to_string(i) + " is " + shown<T>(a[i]) + ", expected " + shown<T>(b[i]);
  });
  return result;
}

}  // namespace troupe::test

#include "kernels/ops/control/summary_text.h"

#include <algorithm>
#include <charconv>

#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

template <class T>
std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "1" : "0";
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return element_text(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T> || std::is_integral_v<T>) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
  } else {
    return '(' + element_text(value.real()) + ',' + element_text(value.imag()) + ')';
  }
}

}  // namespace

std::string summary_text(const Tensor& tensor, int64_t max_elements) {
  std::string text = "[";
  with_type(Joined<PlainTypes, TypeList<std::string>>{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto elements = tensor.as<T>();
    const size_t shown =
        max_elements < 0 ? elements.size() : std::min(elements.size(), static_cast<size_t>(max_elements));
    for (size_t i = 0; i < shown; ++i) {
      if (i > 0) text += ' ';
      text += element_text(elements[i]);
    }
    if (shown < elements.size()) text += "...";
  });
  return text + ']';
}

}  // namespace troupe

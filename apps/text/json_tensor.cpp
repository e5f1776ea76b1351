#include "apps/text/json_tensor.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/core/type_dispatch.h"
#include "messages/values/json_text.h"

namespace troupe {
namespace {

using JsonTypes = Joined<RealTypes, TypeList<bool, std::string>>;
constexpr size_t most_digits = 32;

template <class T>
void append_value(const T& value, std::string& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    to += json_line(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    to += value ? "true" : "false";
  } else {
    char digits[most_digits];
    const auto number = static_cast<ComputeType<T>>(value);
    if constexpr (std::is_floating_point_v<decltype(number)>)
      if (!std::isfinite(number)) return (void)(to += "null");
    to.append(digits, std::to_chars(digits, digits + most_digits, number).ptr);
  }
}

/// Appends the elements from the dimension `dim` on in nested lists. Moves `next` behind them.
template <class T>
void append_nested(const Shape& shape, size_t dim, const T*& next, std::string& to) {
  if (dim == shape.rank()) return append_value(*next++, to);
  to += '[';
  for (int64_t i = 0; i < shape[dim]; ++i) {
    if (i != 0) to += ',';
    append_nested(shape, dim + 1, next, to);
  }
  to += ']';
}

Status append(const Tensor& tensor, size_t first_dim, std::string& to) {
  const bool known = with_type(JsonTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* next = tensor.as<T>().data();
    append_nested(tensor.shape(), first_dim, next, to);
  });
  return known ? Status() : unimplemented("JSON has no values of type " + std::string(name(tensor.dtype())));
}

}  // namespace

Status append_json(const Tensor& tensor, std::string& to) { return append(tensor, 0, to); }
Status append_json_row(const Tensor& tensor, int64_t row, std::string& to) {
  return append(tensor.rows(row, row + 1), 1, to);
}
bool has_json(DType dtype) {
  return with_type(JsonTypes{}, dtype, [](auto) {});
}

}  // namespace troupe

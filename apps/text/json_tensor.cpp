#include "apps/text/json_tensor.h"

#include <openssl/evp.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/core/type_dispatch.h"
#include "kernels/ops/strings/utf8.h"
#include "messages/values/json_text.h"

namespace troupe {
namespace {

using JsonTypes = Joined<RealTypes, TypeList<bool, std::string>>;
constexpr size_t most_digits = 32;

std::string base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the 0 at the end
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

template <class T>
void append_value(const T& value, Texts texts, std::string& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    to += texts == Texts::Text && is_utf8(value) ? json_line(value) : R"({"b64":")" + base64(value) + R"("})";
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
void append_nested(const Shape& shape, size_t dim, const T*& next, Texts texts, std::string& to) {
  if (dim == shape.rank()) return append_value(*next++, texts, to);
  to += '[';
  for (int64_t i = 0; i < shape[dim]; ++i) {
    if (i != 0) to += ',';
    append_nested(shape, dim + 1, next, texts, to);
  }
  to += ']';
}

Status append(const Tensor& tensor, size_t first_dim, Texts texts, std::string& to) {
  const bool known = with_type(JsonTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* next = tensor.as<T>().data();
    append_nested(tensor.shape(), first_dim, next, texts, to);
  });
  return known ? Status() : unimplemented("JSON has no values of type " + std::string(name(tensor.dtype())));
}

}  // namespace

Status append_json(const Tensor& tensor, std::string& to, Texts texts) {
  return append(tensor, 0, texts, to);
}
Status append_json_row(const Tensor& tensor, int64_t row, std::string& to, Texts texts) {
  return append(tensor.rows(row, row + 1), 1, texts, to);
}
bool has_json(DType dtype) {
  return with_type(JsonTypes{}, dtype, [](auto) {});
}

}  // namespace troupe

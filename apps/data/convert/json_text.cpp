#include "apps/data/convert/json_text.h"

#include <nlohmann/json.hpp>

#include "kernels/core/type_dispatch.h"
#include "messages/values/json_text.h"

namespace troupe::data {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the elements of a tensor in nested lists, those of the dimensions from number `dim` on. Moves `at` behind them.
template <class T>
Json nested(const Tensor& values, size_t dim, size_t& at) {
  if (dim == values.shape().rank()) {
    const T value = values.as<T>()[at++];
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool> || std::is_integral_v<T>)
      return value;
    else
      return static_cast<ComputeType<T>>(value);
  }
  Json list = Json::array();
  for (int64_t i = 0; i < values.shape()[dim]; ++i) list.push_back(nested<T>(values, dim + 1, at));
  return list;
}

/// Returns a row of a tensor [rows, ...] as a number, text or nested lists.
Result<Json> json_of_row(const Tensor& column, int64_t row) {
  const Tensor values = column.rows(row, row + 1);
  Json result;
  const bool is_known = with_type(Joined<WideRealTypes, TypeList<bool, std::string>>{}, values.dtype(),
                                  [&]<class T>(std::type_identity<T>) {
                                    size_t at = 0;
                                    result = nested<T>(values, 1, at);
                                  });
  if (!is_known) return invalid_argument("JSON has no values of type " + std::string(name(values.dtype())));
  return result;
}

}  // namespace

Status append_json_line(const Dataset& samples, int64_t row, std::string& to) {
  Json line = Json::object();
  for (const Column& column : samples.columns()) {
    auto value = json_of_row(column.values, row);
    if (!value) return Status(value.status().code(), "column " + column.name + ": " + value.status().text());
    line[column.name] = std::move(*value);
  }
  to += json_line(line) + '\n';
  return {};
}

}  // namespace troupe::data

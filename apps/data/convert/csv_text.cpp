#include "apps/data/convert/csv_text.h"

#include <charconv>
#include <cmath>

#include "apps/data/format.h"
#include "kernels/core/type_dispatch.h"

namespace troupe::data {
namespace {

constexpr size_t most_digits = 32;

template <class T>
Status append_number(T value, std::string& to) {
  char digits[most_digits];
  if constexpr (std::is_integral_v<T>) {
    to.append(digits, std::to_chars(digits, digits + most_digits, static_cast<int64_t>(value)).ptr);
  } else {
    const auto number = static_cast<ComputeType<T>>(value);
    if (!std::isfinite(number)) return invalid_argument("csv has no number for " + std::to_string(number));
    to.append(digits, std::to_chars(digits, digits + most_digits, number).ptr);
  }
  return {};
}

Status append_text(const std::string& text, std::string& to) {
  constexpr std::string_view blanks = " \t";
  const bool has_blanks = !text.empty() && (blanks.find(text.front()) != std::string_view::npos ||
                                            blanks.find(text.back()) != std::string_view::npos);
  if (has_blanks || text.find_first_of("\"\r\n") != std::string::npos)
    return invalid_argument("csv has no text with quotes, ends of lines, or blanks at its ends");
  to += text.find(',') == std::string::npos ? text : '"' + text + '"';
  return {};
}

Status append_column(const Column& column, int64_t row, std::string& to) {
  const Tensor values = column.values.rows(row, row + 1);
  Status status;
  const auto separate = [&] {
    if (!to.empty() && to.back() != '\n') to += ',';
  };
  if (values.dtype() == DType::String) {
    for (const std::string& text : values.as<std::string>()) {
      separate();
      TROUPE_RETURN_IF_FAILED(append_text(text, to));
    }
    return {};
  }
  const bool is_known =
      with_type(Joined<WideRealTypes, TypeList<bool>>{}, values.dtype(), [&]<class T>(std::type_identity<T>) {
        for (const T value : values.as<T>()) {
          if (!status.ok()) return;
          separate();
          status = append_number(value, to);
        }
      });
  if (!is_known) return invalid_argument("csv has no values of type " + std::string(name(values.dtype())));
  return status;
}

}  // namespace

Status append_csv_row(const Dataset& samples, int64_t row, std::string& to) {
  for (const bool is_label : {false, true})
    for (const Column& column : samples.columns())
      if ((column.name == label_column) == is_label)
        if (const Status status = append_column(column, row, to); !status.ok())
          return Status(status.code(), "column " + column.name + ": " + status.text());
  to += '\n';
  return {};
}

}  // namespace troupe::data

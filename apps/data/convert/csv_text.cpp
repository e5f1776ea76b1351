#include "apps/data/convert/csv_text.h"

#include <charconv>
#include <cmath>

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
  constexpr std::string_view blanks = " \t\r";
  const bool has_blanks = !text.empty() && (blanks.find(text.front()) != std::string_view::npos ||
                                            blanks.find(text.back()) != std::string_view::npos);
  if (has_blanks) return invalid_argument("csv has no text with blanks at its ends");
  to += csv_field(text);
  return {};
}

/// Appends the fields of a column, each of them behind a comma.
Status append_column(const Column& column, int64_t row, std::string& to) {
  const Tensor values = column.values.rows(row, row + 1);
  Status status;
  if (values.dtype() == DType::String) {
    for (const std::string& text : values.as<std::string>()) {
      to += ',';
      TROUPE_RETURN_IF_FAILED(append_text(text, to));
    }
    return {};
  }
  const bool is_known = with_type(Joined<WideRealTypes, TypeList<bool, Half, BFloat16>>{}, values.dtype(),
                                  [&]<class T>(std::type_identity<T>) {
                                    for (const T value : values.as<T>()) {
                                      if (!status.ok()) return;
                                      to += ',';
                                      status = append_number(value, to);
                                    }
                                  });
  if (!is_known) return invalid_argument("csv has no values of type " + std::string(name(values.dtype())));
  return status;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char character : text) {
    field += character;
    if (character == '"') field += character;
  }
  return field + '"';
}

Status append_csv_row(const Dataset& samples, int64_t row, std::string& to) {
  const size_t begin = to.size();
  TROUPE_RETURN_IF_FAILED(each_csv_column(samples, [&](const Column& column) -> Status {
    const Status status = append_column(column, row, to);
    return status.ok() ? status : Status(status.code(), "column " + column.name + ": " + status.text());
  }));
  if (to.size() > begin) to.erase(begin, 1);  // the comma in front of the first field
  to += '\n';
  return {};
}

}  // namespace troupe::data

#include "apps/data/csv/number_form.h"

#include <algorithm>
#include <array>

#include "apps/data/csv/csv_row.h"

namespace troupe::data {
namespace {

/// What may stand beside the digits of a number.
constexpr std::array<std::string_view, 4> signs = {"$", "%", "€", "£"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How a number is divided by commas.
struct Commas {
  bool are_groups = false;   ///< they stand before each three of its last digits in front of the point
  bool are_certain = false;  ///< a decimal comma would not stand there
};

Commas commas_of(std::string_view number) {
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  const std::string_view whole = number.substr(0, number.find('.'));
  const auto count = std::ranges::count(whole, ',');
  if (count == 0 || whole.find(',') == 0 || whole.find(',') > 3) return {};
  for (size_t i = 0; i < whole.size(); ++i) {
    const bool is_comma = (whole.size() - i) % 4 == 0;
    if (is_comma ? whole[i] != ',' : !is_digit(whole[i])) return {};
  }
  return {true, count > 1 || whole.size() < number.size()};
}

/// Returns whether a number has one comma, as a decimal one, and points between groups of digits in front of it, or none.
bool has_decimal_comma(std::string_view number) {
  const size_t comma = number.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma + 1 == number.size()) return false;
  std::string plain;
  for (size_t i = 0; i < number.size(); ++i) {
    const bool parts_thousands = number[i] == '.' && i < comma && (comma - i) % 4 == 0;
    if (number[i] == '.' && !parts_thousands) return false;
    if (number[i] != '.') plain += i == comma ? '.' : number[i];
  }
  return CsvRow::number_of(plain).has_value();
}

}  // namespace

void NumberForm::add(const NumberForm& other) {
  decimal_comma |= other.decimal_comma;
  for (const char c : other.ignored)
    if (!ignores(c)) ignored += c;
}

NumberForm number_form(const FormatOptions& options) {
  return {option<std::string>(options, "ignore", ""), option<std::string>(options, "decimal", ".") == ","};
}

std::string plain_number(std::string_view field, const NumberForm& form) {
  std::string number;
  for (const char c : field)
    if (!form.ignores(c)) number += form.decimal_comma && c == ',' ? '.' : c;
  const auto is_blank = [](char c) { return c == ' '; };
  number.erase(number.begin(), std::ranges::find_if_not(number, is_blank));
  while (number.ends_with(' ')) number.pop_back();
  return number;
}

std::optional<NumberForm> form_of(std::string_view field, bool has_groups) {
  if (CsvRow::number_of(field)) return {};
  NumberForm form;
  for (const std::string_view sign : signs)
    if (field.find(sign) != std::string_view::npos) form.ignored += sign;
  const std::string number = plain_number(field, form);
  if (CsvRow::number_of(number)) return form;
  const Commas commas = commas_of(number);
  const bool may_be_decimal = has_decimal_comma(number);
  if (commas.are_groups && (commas.are_certain || has_groups || !may_be_decimal)) {
    form.ignored += ',';
    return form;
  }
  if (!may_be_decimal) return {};
  form.decimal_comma = true;
  if (number.find('.') != std::string::npos) form.ignored += '.';
  return form;
}

std::string advice_on_form(std::string_view field, bool has_groups) {
  const auto form = form_of(field, has_groups);
  if (!form) return {};
  std::string keys = form->decimal_comma ? R"(data.decimal = ",")" : "";
  if (!form->ignored.empty())
    keys += (keys.empty() ? "data.ignore = \"" : " and data.ignore = \"") + form->ignored + '"';
  return "; " + keys + (form->decimal_comma && !form->ignored.empty() ? " read it" : " reads it");
}

}  // namespace troupe::data

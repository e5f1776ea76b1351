// NumberForm: how the numbers of a table are written, if they are not plain ones: with signs such as "$" and "%", with commas
// between groups of digits ("1,234.50"), or with a decimal comma ("1.234,50"). Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apps/data/format.h"

namespace troupe::data {

struct NumberForm {
  std::string ignored;         ///< characters that are left out
  bool decimal_comma = false;  ///< whether a comma stands where plain numbers have a point

  bool is_plain() const { return ignored.empty() && !decimal_comma; }
  bool ignores(char c) const { return ignored.find(c) != std::string::npos; }
  /// Makes this the form of numbers of this form and of another one.
  void add(const NumberForm& other);
};

/// Returns the form that the options "ignore" and "decimal" describe.
NumberForm number_form(const FormatOptions& options);
/// Returns a field of this form as a plain number is written.
std::string plain_number(std::string_view field, const NumberForm& form);
/// Returns the form in which a field is a number; nothing if it is a plain number, or none. A comma before three digits ("1,234")
/// may be a decimal one: it is, unless `has_groups`.
std::optional<NumberForm> form_of(std::string_view field, bool has_groups);
/// Returns which options read a field that is no plain number, as text to append to an error; an empty text if none do.
std::string advice_on_form(std::string_view field, bool has_groups);

}  // namespace troupe::data

// CsvRow: one row of a text with columns, whose fields are removed from the front. Owned by a reader; one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::data {

class CsvRow {
 public:
  /// Without `has_quotes` quotes are characters like others.
  explicit CsvRow(char delimiter, bool has_quotes = true);

  /// Begins with a row of the file, which must outlive its use here.
  void set(std::string_view line);
  bool blank() const;
  /// Returns whether there are no more fields.
  bool at_end() const { return line_end_; }
  /// Returns what is left of the line.
  std::string_view line() const { return line_; }
  /// Returns the next field exactly as it is in the file.
  std::string_view written() const { return line_.substr(0, line_.find(delimiter_)); }

  /// Removes the next field, which must exist, and returns it without the blanks and quotes around it. Between quotes two of them
  /// stand for one. The field is valid until the next call.
  std::string_view next_field();
  /// Removes the next field if it consists only of a finite number that the type T has: float, double, int32_t or int64_t. Integers
  /// must be whole numbers of that width. Otherwise returns false and leaves the row as it was.
  template <class T>
  bool next_number(T& number);
  /// Returns the number in a field, or nothing if it is none, or the type T does not have it.
  template <class T = double>
  static std::optional<T> number_of(std::string_view field);

 private:
  char delimiter_;
  bool has_quotes_;
  std::string_view blanks_;  ///< the characters that are ignored around a field
  std::string_view line_;
  std::string unquoted_;  ///< the last field, if it has quotes
  bool line_end_ = false;
};

}  // namespace troupe::data

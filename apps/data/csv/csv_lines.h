// CsvLines: the rows of a text with columns. A row is a line, or several if a field in quotes has ends of lines. Owned by a reader;
// one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "apps/data/text_lines.h"

namespace troupe::data {

/// Follows the quotes of a row, line by line. A field is in quotes if its first character, apart from blanks, is one.
class OpenQuotes {
 public:
  explicit OpenQuotes(char delimiter);

  void begin_row();
  /// Adds a line with its end. Returns whether the row goes on in the next line.
  bool add(std::string_view line);

  /// Returns whether the row is within quotes.
  bool is_open() const { return place_ == Place::Quoted; }
  /// Returns whether quotes that were opened in an earlier line were closed in front of other text: one of them is none.
  bool is_stray() const { return is_stray_; }

 private:
  enum class Place : uint8_t { FieldBegin, Plain, Quoted, QuoteInQuotes };

  Place after(char next) const;

  const char delimiter_;
  const std::string_view blanks_;
  Place place_ = Place::FieldBegin;
  bool goes_on_ = false;  ///< the quotes that are open were opened in an earlier line
  bool is_stray_ = false;
};

class CsvLines {
 public:
  /// Without `has_quotes` quotes are characters like others, and each row is a line.
  CsvLines(std::shared_ptr<InputFile> file, char delimiter, bool has_quotes);

  /// Returns the next row without the end of its last line, or nothing at the end of the file. The row is valid until the next
  /// call. Fails with DataLoss, naming the row, if it has quotes that no others end, and as TextLines does.
  Result<std::optional<std::string_view>> next();
  /// Returns whether next() has failed because of quotes.
  bool has_bad_quotes() const { return has_bad_quotes_; }
  /// Returns the number of the line in which the last row begins, counted from 1, and the number of lines that have been read.
  uint64_t row() const { return lines_.row(); }
  uint64_t lines() const { return lines_.lines(); }
  uint64_t offset() const { return lines_.offset(); }
  /// Makes next() continue at the beginning of a line that has `lines` lines before it.
  void seek(uint64_t offset, uint64_t lines) { lines_.seek(offset, lines); }

  const InputFile& file() const { return lines_.file(); }

 private:
  Status bad_quotes(uint64_t number, const char* what);

  OpenQuotes quotes_;
  TextLines lines_;
  bool has_bad_quotes_ = false;
};

/// Returns the characters that are ignored around a field.
std::string_view blanks_around_fields(char delimiter);

}  // namespace troupe::data

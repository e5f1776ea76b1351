#include "apps/data/csv/csv_lines.h"

namespace troupe::data {

std::string_view blanks_around_fields(char delimiter) {
  if (delimiter == '\t') return " \r";
  return delimiter == ' ' ? "\t\r" : " \t\r";
}

OpenQuotes::OpenQuotes(char delimiter) : delimiter_(delimiter), blanks_(blanks_around_fields(delimiter)) {}

void OpenQuotes::begin_row() {
  place_ = Place::FieldBegin;
  goes_on_ = is_stray_ = false;
}

OpenQuotes::Place OpenQuotes::after(char next) const {
  if (place_ == Place::Quoted) return next == '"' ? Place::QuoteInQuotes : Place::Quoted;
  if (place_ == Place::QuoteInQuotes && next == '"') return Place::Quoted;  // two of them stand for one
  if (next == delimiter_) return Place::FieldBegin;
  if (place_ != Place::FieldBegin) return Place::Plain;
  if (next == '"') return Place::Quoted;
  return blanks_.find(next) == std::string_view::npos ? Place::Plain : Place::FieldBegin;
}

bool OpenQuotes::add(std::string_view line) {
  if (!is_open() && line.find('"') == std::string_view::npos) return false;
  for (const char next : line) {
    const Place before = place_;
    const bool ends_row = next == '\n' && before != Place::Quoted;
    if (ends_row) break;
    place_ = after(next);
    if (before != Place::QuoteInQuotes || place_ == Place::Quoted) continue;
    is_stray_ |= goes_on_ && place_ == Place::Plain && blanks_.find(next) == std::string_view::npos;
    goes_on_ = false;
  }
  goes_on_ = is_open();
  return goes_on_;
}

CsvLines::CsvLines(std::shared_ptr<InputFile> file, char delimiter, bool has_quotes)
    : quotes_(delimiter),
      lines_(std::move(file),
             has_quotes ? TextLines::GoesOn([this](std::string_view line) { return quotes_.add(line); })
                        : TextLines::GoesOn()) {}

Result<std::optional<std::string_view>> CsvLines::next() {
  quotes_.begin_row();
  const uint64_t number = lines() + 1;
  auto row = lines_.next();
  const bool is_too_long = row.status().code() == Code::DataLoss;
  if (quotes_.is_open() && (row || is_too_long))
    return bad_quotes(number, "a field begins with a quote that no other quote ends");
  if (quotes_.is_stray())
    return bad_quotes(number, "a field begins with a quote, which is closed lines later within a text");
  return row;
}

Status CsvLines::bad_quotes(uint64_t number, const char* what) {
  has_bad_quotes_ = true;
  return data_loss(file().path() + ": row " + std::to_string(number) + ": " + what +
                   "; data.quotes = false takes quotes as characters like others");
}

}  // namespace troupe::data

#include "apps/data/formats/csv.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "graph/ops/op_table.h"

namespace troupe::data {
namespace {

/// What was found, for an error: short and on one line.
std::string shown(std::string_view field) {
  std::string out = "'";
  for (const char c : field.substr(0, 40)) out += static_cast<uint8_t>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (field.size() > 40 ? "...'" : "'");
}

std::string_view trim(std::string_view text, std::string_view blanks) {
  const size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// The number that `text` begins with, up to a delimiter or the end; null when there is none or it is not finite. Small whole
/// numbers, which most files hold, go past from_chars.
const char* parse_number(const char* begin, const char* end, char delimiter, double& number) {
  const auto ends_at = [&](const char* at) { return at == end || *at == delimiter; };
  uint32_t value = 0;
  const char* at = begin;
  for (; at != end && at - begin < 9 && *at >= '0' && *at <= '9'; ++at)
    value = value * 10 + static_cast<uint32_t>(*at - '0');
  if (at != begin && ends_at(at)) {
    number = value;
    return at;
  }
  if (begin != end && *begin == '+') ++begin;
  const auto parsed = std::from_chars(begin, end, number);
  return parsed.ec == std::errc() && ends_at(parsed.ptr) && std::isfinite(number) ? parsed.ptr : nullptr;
}

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& file, const Options& options, DType label_type)
      : rest_(text), file_(file), options_(options), label_type_(label_type),
        blanks_(options.delimiter == '\t'  ? " \r"
                : options.delimiter == ' ' ? "\t\r"
                                           : " \t\r") {}

  Result<Samples> parse() {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
    bool header = options_.header;
    while (next_row()) {
      if (width_ == 0) TROUPE_RETURN_IF_FAILED(first_row(header));
      if (!std::exchange(header, false)) TROUPE_RETURN_IF_FAILED(parse_row());
    }
    if (samples_ == 0) return data_loss(file_ + ": no samples in it");
    return finish();
  }

 private:
  /// The next line that is not empty.
  bool next_row() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = trim(rest_.substr(0, end), "\r");
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++row_;
      if (!trim(line_, " \t\r").empty()) return true;
    }
    return false;
  }

  /// Cuts a field off the front of the line, which has one left.
  std::string_view next_field() {
    size_t from = 0;
    const size_t quote = line_.find_first_not_of(blanks_);
    const bool quoted = quote != std::string_view::npos && line_[quote] == '"';
    if (quoted) from = std::min(line_.find('"', quote + 1), line_.size());
    const size_t end = line_.find(options_.delimiter, from);
    line_end_ = end == std::string_view::npos;
    std::string_view field = trim(line_.substr(0, end), blanks_);
    if (quoted && field.size() >= 2 && field.back() == '"')
      field = trim(field.substr(1, field.size() - 2), blanks_);
    if (!line_end_) line_.remove_prefix(end + 1);
    return field;
  }

  /// Cuts off a field that is nothing but a number; false, and the line as it was, when there is more to it.
  bool next_number(double& number) {
    const char* const end = line_.data() + line_.size();
    const char* const at = parse_number(line_.data(), end, options_.delimiter, number);
    if (!at) return false;
    line_end_ = at == end;
    line_.remove_prefix(static_cast<size_t>(at - line_.data()) + (line_end_ ? 0 : 1));
    return true;
  }

  Status first_row(bool header) {
    const std::string_view line = line_;
    std::vector<std::string_view> fields;
    line_end_ = false;
    while (!line_end_) fields.push_back(next_field());
    line_ = line;
    width_ = fields.size();
    return find_label(fields, header);
  }

  Status find_label(const std::vector<std::string_view>& fields, bool header) {
    label_ = width_;  // none
    if (const auto* name = std::get_if<std::string>(&options_.label)) {
      label_ = static_cast<size_t>(std::find(fields.begin(), fields.end(), *name) - fields.begin());
      if (!header || label_ == width_) {
        const auto near = nearest(*name, fields);
        return invalid_argument(file_ + ": no column is called '" + *name + "'" +
                                (near.empty() ? "" : "; the nearest is " + shown(near)));
      }
    } else if (const auto* number = std::get_if<int64_t>(&options_.label)) {
      if (*number < 0 || static_cast<size_t>(*number) >= width_)
        return invalid_argument(file_ + ": label column " + std::to_string(*number) + " of " +
                                std::to_string(width_) + " columns");
      label_ = static_cast<size_t>(*number);
    } else {
      const auto word = std::get<LabelColumn>(options_.label);
      if (word != LabelColumn::None) label_ = word == LabelColumn::First ? 0 : width_ - 1;
    }
    if (width_ == (label_ < width_ ? 1 : 0))
      return data_loss(file_ + ": one column holds no features beside the label");
    return {};
  }

  Status parse_row() {
    line_end_ = false;
    size_t column = 0;
    for (double number = 0; !line_end_; ++column) {
      const std::string_view rest = line_;
      if (!next_number(number)) TROUPE_RETURN_IF_FAILED(next_decorated_number(column, number));
      if (column == label_)
        TROUPE_RETURN_IF_FAILED(add_label(column, rest.substr(0, rest.find(options_.delimiter)), number));
      else
        features_.push_back(static_cast<float>(number) * static_cast<float>(options_.scale));
    }
    if (column != width_)
      return data_loss(place() + ": " + std::to_string(column) + " columns, the first row has " +
                       std::to_string(width_));
    ++samples_;
    return {};
  }

  /// A number between blanks or quotes.
  Status next_decorated_number(size_t column, double& number) {
    const std::string_view field = next_field();
    const char* const end = field.data() + field.size();
    if (field.empty() || parse_number(field.data(), end, options_.delimiter, number) != end)
      return bad_field(column, field);
    return {};
  }

  Status add_label(size_t column, std::string_view field, double number) {
    if (label_type_ == DType::Int32 && (std::trunc(number) != number || std::abs(number) > INT32_MAX))
      return data_loss(place(column) + ": the label " + shown(field) +
                       " is no int32; for labels of another type cast it in data.inputs");
    labels_.push_back(number);
    return {};
  }

  Status bad_field(size_t column, std::string_view field) const {
    const bool maybe_header = samples_ == 0 && !options_.header;
    return data_loss(place(column) + ": " +
                     (field.empty() ? "the field is empty" : shown(field) + " is no finite number") +
                     (maybe_header ? "; if the first row holds names, say header = true" : ""));
  }

  std::string place() const { return file_ + ": row " + std::to_string(row_); }
  std::string place(size_t column) const { return place() + ", column " + std::to_string(column + 1); }

  Result<Samples> finish() const {
    Samples samples;
    const int64_t width = static_cast<int64_t>(features_.size()) / samples_;
    TROUPE_ASSIGN(const Shape shape, Shape::make(std::vector<int64_t>{samples_, width}, DType::Float));
    TROUPE_ASSIGN(samples.features, Tensor::allocate(DType::Float, shape));
    std::copy(features_.begin(), features_.end(), samples.features.write<float>().begin());
    if (label_ == width_) return samples;
    TROUPE_ASSIGN(samples.labels, Tensor::allocate(label_type_, Shape::vector(samples_)));
    if (label_type_ == DType::Int32)
      std::copy(labels_.begin(), labels_.end(), samples.labels.write<int32_t>().begin());
    else
      std::copy(labels_.begin(), labels_.end(), samples.labels.write<float>().begin());
    return samples;
  }

  std::string_view rest_, line_;
  const std::string& file_;
  const Options& options_;
  DType label_type_;
  std::string_view blanks_;  ///< what may stand around a field
  bool line_end_ = false;    ///< the line has no further field
  size_t row_ = 0, width_ = 0, label_ = 0;
  int64_t samples_ = 0;
  std::vector<float> features_;
  std::vector<double> labels_;
};

}  // namespace

Result<Samples> parse_csv(std::string_view text, const std::string& file, const Options& options,
                          DType label_type) {
  return CsvParser(text, file, options, label_type).parse();
}

}  // namespace troupe::data

// The format csv: text with one sample per row, whose columns are numbers, the features, optionally a label, and optionally one
// column of text, such as words or a list of numbers (apps/data/ragged/row_parser.h). Errors name row and column, which are
// counted from 1; a row is a line of the file. Empty lines are skipped. Lines may end with CRLF, and fields may be in quotes.
#include <algorithm>
#include <cmath>

#include "apps/data/csv_row.h"
#include "apps/data/format.h"
#include "apps/data/text_lines.h"
#include "graph/ops/op_table.h"

namespace troupe::data {
namespace {

using config::Kind;

// One row per option.
// clang-format off
constexpr config::Key keys[] = {
    {"data.label", Kind::Column, "the column of the label, or \"none\"", {.initial = "\"last\"", .when = "format=csv"}},
    {"data.text", Kind::Column, "a column that is text, which becomes the column text; image is then there only if data.inputs has it",
     {.when = "format=csv"}},
    {"data.header", Kind::Boolean, "whether the first row has the names of columns", {.initial = "false", .when = "format=csv"}},
    {"data.delimiter", Kind::Choice, "character between columns",
     {.initial = "\",\"", .choices = ",|;|\t| ", .when = "format=csv"}},
    {"data.label_names", Kind::Strings, "for labels in words: each becomes its position in this list, from 0", {.when = "format=csv"}},
    {"data.missing", Kind::Number, "the number for an empty field; if it is not given, an empty field is an error", {.when = "format=csv"}},
};
// clang-format on

/// Returns the option for the column of the label or of text: "last", "first", "none", or a name in the header. It may also be a
/// number from 0.
std::string column_name(const FormatOptions& options, std::string_view role) {
  return option<std::string>(options, role, role == label_column ? "last" : "none");
}
bool is_word(const std::string& column) { return column == "last" || column == "first" || column == "none"; }
bool has_number(const FormatOptions& options, std::string_view role) {
  return option<int64_t>(options, role, -1) >= 0;
}
bool has_column(const FormatOptions& options, std::string_view role) {
  return has_number(options, role) || column_name(options, role) != "none";
}
bool labelled(const FormatOptions& options) { return has_column(options, label_column); }
bool has_text(const FormatOptions& options) { return has_column(options, text_column); }

std::optional<OptionMistake> check(const FormatOptions& options) {
  if (option(options, "header", false)) return {};
  for (const char* const role : {label_column, text_column})
    if (!has_number(options, role) && !is_word(column_name(options, role)))
      return OptionMistake{role, "a column can be given by name only with header = true"};
  return {};
}

/// Returns a field as text for an error, on one line and shortened.
std::string shown(std::string_view field) {
  std::string out = "'";
  for (const char c : field.substr(0, 40)) out += static_cast<uint8_t>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (field.size() > 40 ? "...'" : "'");
}

class CsvReader final : public RecordReader {
 public:
  CsvReader(std::shared_ptr<InputFile> file, const SourceFile& source)
      : RecordReader("csv", {file}), lines_(std::move(file)), options_(source.options),
        label_type_(source.label_type), header_(option(options_, "header", false)),
        missing_(option(options_, "missing", std::nan(""))),
        label_names_(option<std::vector<std::string>>(options_, "label_names", {})),
        row_(option<std::string>(options_, "delimiter", ",").front()) {}

  /// Determines the columns from the first row.
  Status begin() {
    TROUPE_ASSIGN(const bool any, next_row());
    if (!any) return data_loss(path() + ": the file has no samples");
    std::vector<std::string_view> fields;
    while (!row_.at_end()) fields.push_back(row_.next_field());
    width_ = fields.size();
    TROUPE_RETURN_IF_FAILED(find_columns(fields));
    if (features() != 0)
      schema_.push_back({feature_column, DType::Float, {static_cast<int64_t>(features())}});
    if (has_text()) schema_.push_back({text_column, DType::String, {}});
    if (has_label()) schema_.push_back({label_column, label_type_, {}});
    first_row_ = lines_.row();
    if (!header_) lines_.seek(row_begin_, first_row_ - 1);
    return {};
  }

  Result<Dataset> next(int64_t max_records) override {
    const int64_t most = std::min(max_records, max_rows());
    TROUPE_ASSIGN(Tensor images, make(DType::Float, most, true));
    TROUPE_ASSIGN(Tensor labels, make(label_type_, most, false));
    TROUPE_ASSIGN(Tensor texts, make(DType::String, has_text() ? most : 0, false));
    float* to = images.write<float>().data();
    std::string* text = texts.write<std::string>().data();
    int64_t rows = 0;
    for (; rows < most; ++rows, to += features()) {
      TROUPE_ASSIGN(const bool more, next_row());
      if (!more) break;
      TROUPE_ASSIGN(const double label, read_row(to, has_text() ? text++ : nullptr));
      if (label_type_ == DType::Int32)
        labels.write<int32_t>()[static_cast<size_t>(rows)] = static_cast<int32_t>(label);
      else
        labels.write<float>()[static_cast<size_t>(rows)] = static_cast<float>(label);
    }
    record_ += static_cast<uint64_t>(rows);
    std::vector<Column> columns;
    if (features() != 0) columns.push_back({feature_column, images.rows(0, rows)});
    if (has_text()) columns.push_back({text_column, texts.rows(0, rows)});
    if (has_label()) columns.push_back({label_column, labels.rows(0, rows)});
    return Dataset(std::move(columns));
  }

  Result<int64_t> skip(int64_t max_records) override {
    int64_t rows = 0;
    for (; rows < max_records; ++rows) {
      TROUPE_ASSIGN(const bool more, next_row());
      if (!more) break;
    }
    record_ += static_cast<uint64_t>(rows);
    return rows;
  }

 private:
  const std::string& path() const { return lines_.file().path(); }
  bool has_label() const { return label_ < width_; }
  bool has_text() const { return text_ < width_; }
  size_t features() const { return width_ - (has_label() ? 1 : 0) - (has_text() ? 1 : 0); }

  /// Returns the most rows to read at once, which have memory before they are read. If the file is not compressed, no more are
  /// left: each column of a row takes at least a character and a delimiter.
  int64_t max_rows() const {
    constexpr uint64_t most_columns = 1 << 20;
    const InputFile& file = lines_.file();
    const uint64_t left = file.stored_size() - std::min(file.stored_size(), lines_.offset());
    return static_cast<int64_t>((file.is_compressed() ? most_columns : left / 2) / width_ + 1);
  }

  Result<Tensor> make(DType dtype, int64_t rows, bool image) const {
    std::vector<int64_t> dims = {rows};
    if (image) dims.push_back(static_cast<int64_t>(features()));
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, dtype));
    return Tensor::allocate(dtype, shape);
  }

  /// Reads the next line that is not empty. Returns false at the end of the file.
  Result<bool> next_row() {
    for (;;) {
      row_begin_ = lines_.offset();
      TROUPE_ASSIGN(const auto line, lines_.next());
      if (!line) return false;
      row_.set(*line);
      if (!row_.blank()) return true;
    }
  }

  Status find_columns(const std::vector<std::string_view>& fields) {
    TROUPE_ASSIGN(label_, find_column(label_column, fields));
    TROUPE_ASSIGN(text_, find_column(text_column, fields));
    if (has_label() && label_ == text_)
      return invalid_argument(
          path() + ": column " + std::to_string(label_) +
          ", counted from 0, is the label and the text; data.label and data.text must differ");
    if (features() == 0 && !has_text())
      return data_loss(path() + ": there are no features, because the only column is the label");
    return {};
  }

  /// Returns the number of the column of the label or of text; width_: there is none.
  Result<size_t> find_column(std::string_view role, const std::vector<std::string_view>& fields) const {
    const std::string name = column_name(options_, role);
    if (has_number(options_, role)) {
      const auto column = static_cast<size_t>(option<int64_t>(options_, role, 0));
      if (column < width_) return column;
      return invalid_argument(path() + ": the " + std::string(role) + " is column " + std::to_string(column) +
                              ", counted from 0, but there are " + std::to_string(width_) + " columns");
    }
    if (is_word(name)) return name == "first" ? 0 : name == "last" ? width_ - 1 : width_;
    const auto column = static_cast<size_t>(std::ranges::find(fields, name) - fields.begin());
    if (header_ && column != width_) return column;
    const auto near = nearest(name, fields);
    return invalid_argument(path() + ": there is no column '" + name + "'" +
                            (near.empty() ? "" : "; the nearest is " + shown(near)));
  }

  /// Writes the features of the row to `to`, its text to `text`, and returns its label, or 0 if there are no labels. Fails with
  /// DataLoss if the row does not have as many columns as the first one.
  Result<double> read_row(float* to, std::string* text) {
    double label = 0;
    size_t column = 0;
    for (double number = 0; !row_.at_end(); ++column) {
      if (column == width_) return bad_width(column);
      if (column == text_) {
        *text = row_.next_field();
        continue;
      }
      const std::string_view written = column == label_ ? row_.written() : std::string_view();
      const bool is_named = column == label_ && !label_names_.empty();
      if (is_named || !row_.next_number(number)) {
        const std::string_view field = row_.next_field();
        const auto found = is_named ? label_of(field) : number_of(field);
        if (!found) return is_named ? bad_label(column, field) : bad_field(column, field);
        number = *found;
      }
      if (column != label_)
        *to++ = static_cast<float>(number);
      else if (label_type_ == DType::Int32 && (std::trunc(number) != number || std::abs(number) > INT32_MAX))
        return data_loss(place(column) + ": the label " + shown(written) +
                         " is not an int32; for labels of another type set cast in data.inputs");
      else
        label = number;
    }
    if (column != width_) return bad_width(column);
    return label;
  }

  /// Returns the index of a label's name.
  std::optional<double> label_of(std::string_view field) const {
    const auto found = std::ranges::find(label_names_, field);
    if (found == label_names_.end()) return {};
    return static_cast<double>(found - label_names_.begin());
  }
  std::optional<double> number_of(std::string_view field) const {
    if (field.empty() && !std::isnan(missing_)) return missing_;
    return row_.number_of(field);
  }

  Status bad_label(size_t column, std::string_view field) const {
    const std::vector<std::string_view> known(label_names_.begin(), label_names_.end());
    const auto near = nearest(field, known);
    return data_loss(place(column) + ": the label " + shown(field) + " is not in label_names" +
                     (near.empty() ? "" : "; the nearest is " + shown(near)));
  }

  Status bad_width(size_t columns) {
    for (; !row_.at_end(); ++columns) row_.next_field();
    return data_loss(place() + ": the row has " + std::to_string(columns) +
                     " columns, but the first row has " + std::to_string(width_));
  }

  Status bad_field(size_t column, std::string_view field) const {
    const bool maybe_header = lines_.row() == first_row_ && !header_;
    return data_loss(place(column) + ": " +
                     (field.empty() ? "the field is empty; data.missing can say which number it stands for"
                                    : shown(field) + " is not a finite number") +
                     (maybe_header ? "; if the first row has names, set header = true" : ""));
  }

  std::string place() const { return path() + ": row " + std::to_string(lines_.row()); }
  std::string place(size_t column) const { return place() + ", column " + std::to_string(column + 1); }

  ReaderPosition tell() const override {
    return {.record = record_, .offset = lines_.offset(), .row = lines_.row()};
  }
  Status seek(const ReaderPosition& position) override {
    TROUPE_RETURN_IF_FAILED(check_offset(position, lines_.file()));
    lines_.seek(position.offset, position.row);
    record_ = position.record;
    return {};
  }

  TextLines lines_;
  FormatOptions options_;
  DType label_type_;
  bool header_;
  double missing_;  ///< the value of an empty field; NaN: it is an error
  std::vector<std::string> label_names_;
  CsvRow row_;
  uint64_t row_begin_ = 0;       ///< the offset of the current row, in bytes
  size_t width_ = 0;             ///< the number of columns
  size_t label_ = 0, text_ = 0;  ///< the columns of the label and of text; width_: there is none
  uint64_t record_ = 0, first_row_ = 0;
};

Result<std::unique_ptr<RecordReader>> open(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto input, InputFile::open(disk, file.path, file.compression));
  auto reader = std::make_unique<CsvReader>(std::move(input), file);
  TROUPE_RETURN_IF_FAILED(reader->begin());
  return std::unique_ptr<RecordReader>(std::move(reader));
}

}  // namespace

Format csv_format() {
  return {
      .name = "csv", .open = open, .keys = keys, .labelled = labelled, .has_text = has_text, .check = check};
}

}  // namespace troupe::data

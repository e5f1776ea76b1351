// The format csv: text with one sample per row. Without data.columns its columns are numbers, the features, optionally a label,
// and optionally one column of text, such as words or a list of numbers (apps/data/ragged/row_parser.h); with it, columns of
// several types are chosen by name. Errors name row and column, which are counted from 1; the number of a row is that of the line
// in which it begins. Empty lines are skipped. Lines may end with CRLF, and fields may be in quotes, inside of which two quotes
// stand for one, and lines may end (RFC 4180). The lines of a file whose name ends with .jsonl are JSON objects, whose members are
// the columns.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "apps/data/convert/convert.h"
#include "apps/data/csv/csv_layout.h"
#include "apps/data/csv/csv_lines.h"
#include "apps/data/csv/csv_objects.h"
#include "apps/data/csv/csv_row.h"
#include "apps/data/csv/json_rows.h"
#include "apps/data/csv/number_form.h"
#include "apps/data/csv/timestamp.h"
#include "apps/data/file_content.h"
#include "apps/data/numbers.h"
#include "apps/text/escaped.h"
#include "graph/ops/op_table.h"
#include "kernels/ops/strings/utf8.h"

namespace troupe::data {
namespace {

using config::Kind;

// One row per option.
// clang-format off
constexpr config::Key csv_keys[] = {
    {"data.label", Kind::Columns,
     "the column of the label, or \"none\"; a list of names or patterns, such as [\"width\", \"height\"], makes it a vector; for npz the name of its array, which is \"label\" if no other is given",
     {.initial = "\"last\"", .when = "format=csv|npz"}},
    {"data.text", Kind::Column, "a column that is text, which becomes the column text; image is then there only if data.inputs has it",
     {.when = "format=csv"}},
    {"data.header", Kind::Boolean, "whether the first row has the names of columns", {.initial = "false", .when = "format=csv"}},
    {"data.features", Kind::Strings, "where columns have names: those of the features, in the order in which the model takes them; default: all columns but the label and the text, in the order of the first file of train. Files may have them in another order, and more columns",
     {.when = "format=csv"}},
    {"data.names", Kind::Strings, "the names of all columns, for files whose first row is a sample", {.when = "format=csv"}},
    {"data.delimiter", Kind::Choice, "character between columns",
     {.initial = "\",\"", .choices = ",|;|\t| ", .when = "format=csv"}},
    {"data.quotes", Kind::Boolean, "whether fields may be in quotes, with delimiters and ends of lines in them; false: a quote is a character like others",
     {.initial = "true", .when = "format=csv"}},
    {"data.label_names", Kind::Strings,
     "for labels in words: each becomes its position in this list, from 0; \"auto\": the words in the files of train, in their order. This is the default if the first label is no number. For images and sounds, the names of the folders, which are the default",
     {.when = "format=csv|images|sounds"}},
    {"data.unlabelled", Kind::Choice, "what happens to rows whose label is missing: error, or skip, which leaves them out",
     {.initial = "\"error\"", .choices = "error|skip", .when = "format=csv"}},
    {"data.decimal", Kind::Choice, "what stands between the whole and the decimal digits of a number",
     {.initial = "\".\"", .choices = ".|,", .when = "format=csv"}},
    {"data.ignore", Kind::String, "characters that are left out of numbers, such as \",\" between groups of digits, or \"$%\"",
     {.when = "format=csv"}},
    {"data.dates", Kind::Choice, "how timestamps write dates, beside ISO 8601: 31/12/2026 is dmy, 12/31/2026 mdy, 2026/12/31 ymd; also with points, and with a time such as 5:30 PM",
     {.initial = "\"iso\"", .choices = "iso|dmy|mdy|ymd", .when = "format=csv"}},
    {"data.missing", Kind::Number, "the number for an empty field; if it is not given, an empty field is an error", {.when = "format=csv"}},
};
// clang-format on

bool labelled(const FormatOptions& options) {
  return has_csv_column(options, label_column) && !ignores_csv_label(options);
}
bool has_text(const FormatOptions& options) { return has_csv_column(options, text_column); }

std::optional<OptionMistake> check_csv(const FormatOptions& options) {
  const bool has_names = options.contains("names");
  if (has_names && has_csv_header(options))
    return OptionMistake{"names", "the first row has the names of columns, header = true"};
  if (!parts_of_label(options).empty() && options.contains("label_names"))
    return OptionMistake{"label_names",
                         "it names the words of a label that is one column, but data.label is a list"};
  if (has_names || has_csv_header(options)) return {};
  for (const char* const role : {label_column, text_column})
    if (names_csv_column(options, role))
      return OptionMistake{role, "a column can be given by name only with header = true or names"};
  return {};
}

class CsvReader final : public RecordReader {
 public:
  /// Without a disk the lines are the objects of a request.
  CsvReader(Disk* disk, std::shared_ptr<InputFile> file, const SourceFile& source)
      : RecordReader("csv", {file}), disk_(disk), source_(source),
        label_names_(option<std::vector<std::string>>(source.options, "label_names", {})),
        delimiter_(option<std::string>(source.options, "delimiter", ",").front()),
        has_quotes_(option<bool>(source.options, "quotes", true)), form_(number_form(source.options)),
        dates_(date_order(option<std::string>(source.options, "dates", "iso"))),
        is_json_(!disk || format_of_name(source.path) == "jsonl"), tries_plain_(is_json_ || form_.is_plain()),
        lines_(std::move(file), delimiter_, has_quotes_ && !is_json_),
        row_(delimiter_, has_quotes_ || is_json_) {
    auto names = option<std::vector<std::string>>(source.options, "names", {});
    const bool takes_more = names.empty() || has_csv_header(source.options);
    if (is_json_) json_.emplace(delimiter_, std::move(names), takes_more);
  }

  /// Determines the columns from the first row.
  Status begin() {
    TROUPE_ASSIGN(const std::string first_bytes, lines_.file().text(0, 8));
    if (const auto content = content_of(first_bytes); !content.empty())
      return data_loss(path() + ": the file is not csv, but " + std::string(content));
    TROUPE_ASSIGN(const bool any, next_row());
    if (!any) return data_loss(path() + ": the file has no samples");
    if (!json_ && row_.written().size() == row_.line().size())
      other_delimiter_ = other_delimiter(row_.line());
    std::vector<std::string> first;
    const bool has_names = json_ && has_csv_header(source_.options);
    if (has_names) first = json_->names();
    while (!has_names && !row_.at_end()) first.emplace_back(row_.next_field());
    auto layout = csv_layout(source_, {first.begin(), first.end()});
    if (!layout) return Status(layout.status().code(), layout.status().text() + other_delimiter_);
    layout_ = std::move(*layout);
    schema_ = layout_.fields;
    first_row_ = lines_.row();
    TROUPE_RETURN_IF_FAILED(check_names_of_columns(first));
    if (json_) json_->set_may_be_list(columns_of_text());
    skips_unlabelled_ = option<std::string>(source_.options, "unlabelled", "error") == "skip";
    if (json_ || !has_csv_header(source_.options)) lines_.seek(row_begin_, first_row_ - 1);
    return {};
  }

  /// Returns the names of the columns; none if they have none.
  const std::vector<std::string>& names() const { return layout_.names; }

  Result<Dataset> next(int64_t max_records) override {
    const int64_t most = std::min(max_records, max_rows());
    TROUPE_RETURN_IF_FAILED(allocate(most));
    int64_t rows = 0;
    for (; rows < most; ++rows) {
      TROUPE_ASSIGN(const bool more, next_row());
      if (!more) break;
      TROUPE_RETURN_IF_FAILED(read_row(static_cast<size_t>(rows)));
    }
    record_ += static_cast<uint64_t>(rows);
    std::vector<Column> columns;
    for (size_t i = 0; i < schema_.size(); ++i)
      columns.push_back({schema_[i].name, targets_[i].values.rows(0, rows)});
    targets_.clear();
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
  /// Says with which delimiter a row that is one column has the most columns; nothing if it is one column with all of them.
  static std::string other_delimiter(std::string_view row) {
    std::string_view best;
    std::ptrdiff_t most = 0;
    for (const std::string_view delimiter : {",", ";", "\t", " "})
      if (const auto count = std::ranges::count(row, delimiter.front()); count > most) {
        best = delimiter;
        most = count;
      }
    if (most == 0) return {};
    return "; with data.delimiter = \"" + std::string(best == "\t" ? "\\t" : best) + "\" its first row has " +
           std::to_string(most + 1) + " columns";
  }

  /// The values of a field, which are being read.
  struct Target {
    Tensor values;
    size_t width = 1;  ///< the elements of a row
    std::variant<float*, double*, int32_t*, int64_t*> numbers = {};
    std::string* strings = nullptr;  ///< instead of numbers
  };

  const std::string& path() const { return lines_.file().path(); }

  /// Fails if the header has names for [data.columns] that are not UTF-8; they become parts of the config.
  Status check_names_of_columns(const std::vector<std::string>& first) const {
    if (!has_csv_header(source_.options) || source_.columns.empty()) return {};
    for (size_t i = 0; i < first.size(); ++i)
      if (layout_.columns[i].use != CsvUse::Skipped && !is_utf8(first[i])) return not_utf8(i, first[i]);
    return {};
  }

  /// Returns which columns are texts, or are not read.
  std::vector<bool> columns_of_text() const {
    std::vector<bool> result;
    for (const CsvColumn& column : layout_.columns) {
      bool is_text = column.use == CsvUse::String || column.use == CsvUse::Skipped;
      if (column.use == CsvUse::String && !source_.columns.empty()) {
        const auto of = std::ranges::find(source_.columns, schema_[column.field].name, &TableColumn::name);
        is_text = of == source_.columns.end() || of->type == ColumnType::Text;
      }
      result.push_back(is_text);
    }
    return result;
  }

  /// Returns the most rows to read at once, which have memory before they are read. If the file is not compressed, no more are
  /// left: each column of a row takes at least a character and a delimiter.
  int64_t max_rows() const {
    constexpr uint64_t most_columns = 1 << 20;
    const InputFile& file = lines_.file();
    const uint64_t left = file.stored_size() - std::min(file.stored_size(), lines_.offset());
    return static_cast<int64_t>((file.is_compressed() ? most_columns : left / 2) / layout_.columns.size() +
                                1);
  }

  Status allocate(int64_t rows) {
    targets_.clear();
    for (const Field& field : schema_) {
      std::vector<int64_t> dims = {rows};
      dims.insert(dims.end(), field.shape.begin(), field.shape.end());
      TROUPE_ASSIGN(const Shape shape, Shape::make(dims, field.dtype));
      Target& target = targets_.emplace_back();
      TROUPE_ASSIGN(target.values, Tensor::allocate(field.dtype, shape));
      for (const int64_t dim : field.shape) target.width *= static_cast<size_t>(dim);
      switch (field.dtype) {
        case DType::Float: target.numbers = target.values.write<float>().data(); break;
        case DType::Double: target.numbers = target.values.write<double>().data(); break;
        case DType::Int32: target.numbers = target.values.write<int32_t>().data(); break;
        case DType::Int64: target.numbers = target.values.write<int64_t>().data(); break;
        default: target.strings = target.values.write<std::string>().data();
      }
    }
    return {};
  }

  /// Reads the next line that is a sample: neither empty nor to be left out. Returns false at the end of the file.
  Result<bool> next_row() {
    for (;;) {
      row_begin_ = lines_.offset();
      TROUPE_ASSIGN(const auto line, lines_.next());
      if (!line) return false;
      TROUPE_RETURN_IF_FAILED(set_row(*line));
      if (!row_.blank() && (!skips_unlabelled_ || has_label())) return true;
    }
  }

  Status set_row(std::string_view line) {
    if (!json_ || line.find_first_not_of(" \t\r") == line.npos) {
      row_.set(line);
      row_text_ = line;
      return {};
    }
    const auto row = json_->row(line);
    if (!row) return data_loss(place() + ": " + row.status().text());
    row_.set(*row);
    return {};
  }

  /// Returns whether the row has all of its label, or is shorter, which is a mistake.
  bool has_label() const {
    CsvRow row = row_;
    for (const CsvColumn& column : layout_.columns) {
      if (row.at_end()) break;
      const std::string_view field = row.next_field();
      if (column.use == CsvUse::Label && is_word_for_missing(field) && !label_of(field)) return false;
    }
    return true;
  }

  /// Writes the fields of the row. Fails with DataLoss if the row does not have as many columns as the first one.
  Status read_row(size_t row) {
    size_t column = 0;
    for (; !row_.at_end(); ++column) {
      if (column == layout_.columns.size()) return bad_width(column);
      const CsvColumn& into = layout_.columns[column];
      if (into.use == CsvUse::Number) {
        const Target& target = targets_[into.field];
        const size_t at = row * target.width + into.element;
        const auto is_number = [&](auto* numbers) { return row_.next_number(numbers[at]); };
        if (!tries_plain_ || !std::visit(is_number, target.numbers))
          TROUPE_RETURN_IF_FAILED(unless_bad_width(column, read_number(column, into, target, at)));
      } else {
        TROUPE_RETURN_IF_FAILED(unless_bad_width(column, read_other(column, into, row)));
      }
    }
    return column == layout_.columns.size() ? Status() : bad_width(column);
  }

  /// Returns the failure of a column, unless the row has another number of columns: then the column may be another one than meant.
  Status unless_bad_width(size_t column, Status status) {
    if (status.ok() || std::ranges::count(row_text_, '"') % 2 != 0) return status;
    CsvRow rest = row_;
    size_t columns = column + 1;
    for (; !rest.at_end(); ++columns) rest.next_field();
    return columns == layout_.columns.size() ? status : bad_width(column + 1);
  }

  /// Returns a field that may be a number as plain numbers are written. It is valid until the next call.
  std::string_view as_plain(std::string_view field) {
    if (form_.is_plain()) return field;
    plain_ = plain_number(field, form_);
    return plain_;
  }

  /// Reads a field that does not consist of a plain number alone.
  Status read_number(size_t column, const CsvColumn& into, const Target& target, size_t at) {
    const std::string_view written = row_.next_field(), field = as_plain(written);
    const bool is_missing =
        into.missing && (into.has_words_for_missing ? is_word_for_missing(field) : field.empty());
    const auto read = [&]<class T>(T* numbers) {
      const auto number = is_missing ? missing_number<T>(*into.missing) : CsvRow::number_of<T>(field);
      if (number) numbers[at] = *number;
      return number.has_value();
    };
    if (std::visit(read, target.numbers)) return {};
    if (is_missing)
      return invalid_argument(place(column) + ": what stands for a missing number is " +
                              fmt::format("{}", *into.missing) +
                              ", which does not fit the type of the column");
    return bad_field(column, written);
  }

  /// Returns the number for a missing one; nothing if the type T does not have it.
  template <class T>
  static std::optional<T> missing_number(double number) {
    if constexpr (std::is_integral_v<T>)
      return whole_number<T>(number);
    else
      return rounded_number<T>(number);
  }

  Status read_other(size_t column, const CsvColumn& into, size_t row) {
    if (into.use == CsvUse::Skipped) {
      row_.next_field();
      return {};
    }
    Target& target = targets_[into.field];
    const size_t at = row * target.width + into.element;
    if (into.use == CsvUse::Label) return read_label(column, target, at);
    if (into.use == CsvUse::String) return read_text(column, target.strings[at]);
    const std::string_view field = row_.next_field();
    if (into.use == CsvUse::Image) {
      TROUPE_ASSIGN(target.strings[at], read_image(column, field));
    } else if (const auto seconds = parse_timestamp(field, dates_)) {
      std::get<double*>(target.numbers)[at] = *seconds;
    } else if (into.missing && is_word_for_missing(field)) {
      std::get<double*>(target.numbers)[at] = *into.missing;
    } else {
      return data_loss(place(column) + ": " + shown_field(field) +
                       " is not a time; expected one such as 2026-11-26 12:30:00, or seconds since 1970" +
                       advice_on_dates(field));
    }
    return {};
  }

  /// Reads a text, which must be UTF-8, because it may become a part of the config, of JSON or of a page.
  Status read_text(size_t column, std::string& text) {
    const std::string_view field = row_.next_field();
    if (!is_utf8(field)) return not_utf8(column, field);
    text = field;
    return {};
  }

  Status read_label(size_t column, const Target& target, size_t at) {
    if (!target.strings)
      return std::visit([&](auto* labels) { return read_label(column, labels[at]); }, target.numbers);
    return read_text(column, target.strings[at]);
  }

  template <class T>
  Status read_label(size_t column, T& label) {
    if (label_names_.empty() && tries_plain_ && row_.next_number(label)) return {};
    const std::string_view field = row_.next_field();
    if (!is_utf8(field)) return not_utf8(column, field);
    if (label_names_.empty()) {
      const auto number = CsvRow::number_of<T>(as_plain(field));
      label = number.value_or(0);
      return number ? Status() : bad_field(column, field);
    }
    const auto found = label_of(field);
    label = static_cast<T>(found.value_or(0));
    return found ? Status() : bad_label(column, field);
  }

  /// Reads a file whose path is relative to the folder of the table.
  Result<std::string> read_image(size_t column, std::string_view field) {
    if (!disk_) return invalid_argument(place(column) + ": the paths of images are not taken from requests");
    const std::string file = std::filesystem::path(path()).parent_path() / field;
    auto bytes = read_file(*disk_, file, max_sample_bytes);
    if (bytes) return bytes;
    return Status(bytes.status().code(), place(column) + ": " + bytes.status().message());
  }

  /// Returns the index of a label's name.
  std::optional<size_t> label_of(std::string_view field) const {
    const auto found = std::ranges::find(label_names_, field);
    if (found == label_names_.end()) return {};
    return static_cast<size_t>(found - label_names_.begin());
  }

  Status bad_label(size_t column, std::string_view field) const {
    const std::vector<std::string_view> known(label_names_.begin(), label_names_.end());
    const auto near = nearest(field, known);
    constexpr size_t shown = 10;
    std::string list;
    for (size_t i = 0; i < std::min(known.size(), shown); ++i)
      list += (i == 0 ? "" : ", ") + shown_field(known[i]);
    return data_loss(place(column) + ": the label " + shown_field(field) + " is not in label_names, " + list +
                     (known.size() > shown ? ", ..." : "") +
                     (near.empty() ? "" : "; the nearest is " + shown_field(near)));
  }

  Status not_utf8(size_t column, std::string_view field) const {
    return data_loss(place(column) + ": " + shown_field(escaped(field)) + " is no text in UTF-8" +
                     std::string(advice_on_latin1));
  }

  Status bad_width(size_t columns) {
    for (; !row_.at_end(); ++columns) row_.next_field();
    return data_loss(place() + ": the row has " + std::to_string(columns) +
                     " columns, but the first row has " + std::to_string(layout_.columns.size()));
  }

  /// Says what is done about a field of a number that has none.
  std::string advice_on_gap(size_t column, std::string_view field) const {
    const bool has_columns = !source_.columns.empty();
    const std::string name = layout_.fields[layout_.columns[column].field].name;
    if (!disk_ && is_word_for_missing(field))
      return "; the model takes no gaps here, because its run file has no " +
             (has_columns ? "missing in data.columns." + name : std::string("data.missing"));
    if (has_columns && is_word_for_missing(field))
      return "; write missing = \"mean\", \"median\" or a number in data.columns." + name;
    if (has_columns) return "; a gap is an empty field, NA, NaN, null or ?";
    if (field.empty()) return "; data.missing can say which number it stands for";
    if (!is_word_for_missing(field)) return {};
    return "; data.columns can say what stands for it: { type = \"number\", missing = \"mean\" }";
  }

  Status bad_field(size_t column, std::string_view field) const {
    const bool maybe_header = !json_ && lines_.row() == first_row_ && !has_csv_header(source_.options);
    const std::string hint =
        (maybe_header ? "; if the first row has names, set header = true" : "") + other_delimiter_;
    if (CsvRow::number_of(plain_number(field, form_)))
      return data_loss(place(column) + ": " + unfit_number(column, field));
    const std::string form = disk_ ? advice_on_form(field, delimiter_ == ',') : "";
    if (layout_.columns[column].use == CsvUse::Label)
      return data_loss(place(column) + ": " +
                       (is_word_for_missing(field)
                            ? "the label is missing; data.unlabelled = \"skip\" leaves such rows out"
                            : shown_field(field) + " is not a finite number" + form +
                                  (parts_of_label(source_.options).empty()
                                       ? "; label_names = \"auto\" takes labels as words"
                                       : "")) +
                       hint);
    return data_loss(place(column) + ": " +
                     (field.empty() ? (json_ ? "there is no value" : "the field is empty")
                                    : shown_field(field) + " is not a finite number") +
                     (form.empty() ? advice_on_gap(column, field) : form) + hint);
  }

  /// Says why a number does not fit the type of its column.
  std::string unfit_number(size_t column, std::string_view field) const {
    const CsvColumn& into = layout_.columns[column];
    const DType dtype = layout_.fields[into.field].dtype;
    const std::string number = (into.use == CsvUse::Label ? "the label " : "") + shown_field(field);
    if (!is_integer(dtype))
      return number + " is too large for a float, which is at most 3.4e38" +
             (source_.columns.empty() ? "; cast = \"double\" in data.inputs takes it" : "");
    const std::string whole =
        std::string("a whole number of ") + (dtype == DType::Int32 ? "32" : "64") + " bits";
    if (into.use != CsvUse::Label) return number + " is not " + whole + ", which data.inputs asks for";
    return number + " is no class, " + whole +
           "; to predict numbers, write cast = \"float\" in [data.inputs.label], and a loss of numbers, " +
           "such as train.loss = \"mean_squared_error\"";
  }

  std::string place() const {
    if (!disk_) return path() + '[' + std::to_string(lines_.row() - 1) + ']';
    return path() + ": row " + std::to_string(lines_.row());
  }
  std::string place(size_t column) const { return place() + ", " + layout_.name_of(column); }

  ReaderPosition tell() const override {
    return {.record = record_, .offset = lines_.offset(), .row = lines_.lines()};
  }
  Status seek(const ReaderPosition& position) override {
    TROUPE_RETURN_IF_FAILED(check_offset(position, lines_.file()));
    lines_.seek(position.offset, position.row);
    record_ = position.record;
    return {};
  }

  Disk* const disk_;
  const SourceFile source_;
  std::vector<std::string> label_names_;
  const char delimiter_;
  const bool has_quotes_;
  const NumberForm form_;
  const DateOrder dates_;
  const bool is_json_;
  const bool tries_plain_;  ///< whether a plain number is always one: JSON has no other ones
  CsvLines lines_;
  std::optional<JsonRows> json_;  ///< set if the lines are JSON
  CsvRow row_;
  std::string_view row_text_;  ///< the current row, unless it is JSON
  std::string plain_;          ///< the last number that as_plain() has made
  CsvLayout layout_;
  std::vector<Target> targets_;  ///< one for each field; only while records are read
  std::string other_delimiter_;  ///< what to append to errors if the rows are one column; usually empty
  uint64_t row_begin_ = 0;       ///< the offset of the current row, in bytes
  uint64_t record_ = 0, first_row_ = 0;
  bool skips_unlabelled_ = false;
};

Result<std::unique_ptr<CsvReader>> open_table(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto input, InputFile::open(disk, file.path, file.compression));
  auto reader = std::make_unique<CsvReader>(&disk, std::move(input), file);
  TROUPE_RETURN_IF_FAILED(reader->begin());
  return reader;
}

Result<std::unique_ptr<RecordReader>> open_csv(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto reader, open_table(disk, file));
  return std::unique_ptr<RecordReader>(std::move(reader));
}

}  // namespace

Result<std::unique_ptr<RecordReader>> open_csv_objects(std::string_view lines, const SourceFile& source) {
  auto reader = std::make_unique<CsvReader>(nullptr, InputFile::in_memory(lines, source.path), source);
  TROUPE_RETURN_IF_FAILED(reader->begin());
  return std::unique_ptr<RecordReader>(std::move(reader));
}

Result<std::vector<std::string>> csv_column_names(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(const auto reader, open_table(disk, file));
  return reader->names();
}

Format csv_format() {
  return {.name = "csv",
          .open = open_csv,
          .keys = csv_keys,
          .labelled = labelled,
          .has_text = has_text,
          .check = check_csv};
}

}  // namespace troupe::data

// Formats of the files that contain samples. Each is a subclass of RecordReader in its own file in apps/data/formats/, and a line
// in apps/data/formats/all_formats.cpp. Plain values and functions without state; any thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/config/key.h"
#include "apps/data/record_reader.h"
#include "apps/data/table_column.h"

namespace troupe::data {

/// The options of a format by name, as a run file or a program sets them: {"header", true}.
using FormatOptions =
    std::map<std::string, std::variant<bool, int64_t, double, std::string, std::vector<std::string>>,
             std::less<>>;

/// Returns an option, or `otherwise` if it is not set or has another type.
template <class T>
T option(const FormatOptions& options, std::string_view name, T otherwise) {
  const auto at = options.find(name);
  const T* value = at == options.end() ? nullptr : std::get_if<T>(&at->second);
  return value ? *value : otherwise;
}

/// A file of samples to open.
struct SourceFile {
  std::string path;
  std::string labels = {};  ///< for formats with label files: the file of the labels; empty: none
  /// The type to which labels in text are converted: int32, int64, float, double or string.
  DType label_type = DType::Int32;
  FormatOptions options = {};
  /// How both files are compressed, for the formats of data.compression. Not set: what their first bytes say.
  std::optional<Compression> compression = {};
  std::vector<TableColumn> columns = {};  ///< for tables: the columns to read; empty: as the format says
  /// The type to which features in text are converted: int32, int64, float or double.
  DType feature_type = DType::Float;
};

/// An option that is not allowed together with the others, and the reason.
struct OptionMistake {
  std::string_view option;
  std::string text;
};

struct Format {
  std::string_view name;  ///< the value of data.format
  /// Opens a file. The reader yields the column `image` with the features and, if there are labels, the column `label`; if
  /// there is text, the column `text`, and `image` only if there are other columns. If the file says which columns of a table to
  /// read, these take the place of `image` and `text`. Fails with InvalidArgument if the options
  /// do not match the file, with DataLoss if the file is damaged, or with the error of the disk.
  Result<std::unique_ptr<RecordReader>> (*open)(Disk& disk, const SourceFile& file);
  DType features = DType::Float;  ///< of the column of features in the data set, unless an input casts it
  bool label_files = false;       ///< whether labels are in separate files
  std::span<const config::Key> keys = {};  ///< its options as keys of run files, such as "data.header"
  /// For formats without label files: returns whether the file has labels.
  bool (*labelled)(const FormatOptions& options) = [](const FormatOptions&) { return true; };
  /// Returns whether the file has a column of text.
  bool (*has_text)(const FormatOptions& options) = [](const FormatOptions&) { return false; };
  /// Returns a mistake if the options are not allowed together.
  std::optional<OptionMistake> (*check)(const FormatOptions& options) =
      [](const FormatOptions&) -> std::optional<OptionMistake> { return {}; };
};

std::vector<Format> all_formats();
std::optional<Format> find_format(std::string_view name);
/// Returns the names of all formats, separated by '|': "csv|idx".
std::string format_names();

inline constexpr const char* feature_column = "image";
inline constexpr const char* label_column = "label";
inline constexpr const char* text_column = "text";

/// The option of archives that names the arrays which become columns of samples; without it that is the array `image`.
inline constexpr const char* arrays_option = "arrays";
inline std::vector<std::string> arrays_of(const FormatOptions& options) {
  return option<std::vector<std::string>>(options, arrays_option, {});
}

/// Returns the columns of a table that are the elements of its label, which is a vector; none if the label is one column. They are
/// names, or patterns of names.
inline std::vector<std::string> parts_of_label(const FormatOptions& options) {
  return option<std::vector<std::string>>(options, label_column, {});
}

/// For formats whose labels are found by themselves: returns whether they are read, unless data.label is "none".
inline bool has_own_labels(const FormatOptions& options) {
  return option<std::string>(options, label_column, "") != "none";
}

}  // namespace troupe::data

// Formats: what the files of samples may be. Each is a class behind RecordReader, in one file of apps/data/formats, and a line in
// apps/data/formats/all_formats.cpp. Plain values and functions.
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

namespace troupe::data {

/// Options of a format by name, as a run file or a program gives them: {"header", true}.
using FormatOptions = std::map<std::string, std::variant<bool, int64_t, double, std::string>, std::less<>>;

/// The option, or `otherwise` when it is not given as a value of this type.
template <class T>
T option(const FormatOptions& options, std::string_view name, T otherwise) {
  const auto at = options.find(name);
  const T* value = at == options.end() ? nullptr : std::get_if<T>(&at->second);
  return value ? *value : otherwise;
}

/// A file of samples to be opened.
struct SourceFile {
  std::string path;
  std::string labels = {};  ///< the file of their labels, of formats with such files; empty: there is none
  DType label_type = DType::Int32;  ///< int32 or float: what labels that are written as text are read as
  FormatOptions options = {};
};

/// An option that does not go with the others.
struct OptionMistake {
  std::string_view option;
  std::string text;
};

struct Format {
  std::string_view name;  ///< as data.format says it
  /// Yields the columns `image`, the features, and `label`, if there are labels. InvalidArgument for options that do not fit the
  /// file, DataLoss for a file that is damaged, or what the disk says.
  Result<std::unique_ptr<RecordReader>> (*open)(Disk& disk, const SourceFile& file);
  bool label_files = false;  ///< labels are in files of their own
  std::span<const config::Key> keys =
      {};  ///< its options, as keys of [data] that go with this format: "data.header"
  /// Of formats without label files: whether there are labels.
  bool (*labelled)(const FormatOptions& options) = [](const FormatOptions&) { return true; };
  std::optional<OptionMistake> (*check)(const FormatOptions& options) =
      [](const FormatOptions&) -> std::optional<OptionMistake> { return {}; };
};

std::vector<Format> all_formats();
std::optional<Format> find_format(std::string_view name);
/// "csv|idx"
std::string format_names();

inline constexpr const char* feature_column = "image";
inline constexpr const char* label_column = "label";

}  // namespace troupe::data

// The format npz: the samples are the rows of arrays of an archive (apps/data/arrays/npz.h): of `image`, or of those that the
// options name, and of `label`, or of the array that they name, unless they say that there is no label.
#include "apps/data/arrays/npz.h"

#include <algorithm>

#include "apps/data/array_reader.h"

namespace troupe::data {
namespace {

constexpr config::Key npz_keys[] = {
    {"data.arrays",
     config::Kind::Strings,
     "the arrays of the archive that become columns of their names, with samples of any shape; default: "
     "image, whose samples become vectors. Numbers become floats unless data.inputs casts them",
     {.when = "format=npz"}},
    {"data.label", config::Kind::Columns, {}}};

/// Returns the name of the array with the labels.
std::string label_array(const FormatOptions& options) {
  const auto name = option<std::string>(options, label_column, label_column);
  return name == "last" || name == "first" ? label_column : name;  // which are of tables
}

std::optional<OptionMistake> check_npz(const FormatOptions& options) {
  if (!parts_of_label(options).empty())
    return OptionMistake{label_column,
                         "a list names columns of a table; the label of an archive is one array"};
  const auto arrays = arrays_of(options);
  const std::string label = has_own_labels(options) ? label_array(options) : "";
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == label || arrays[i] == label_column)
      return OptionMistake{arrays_option,
                           "the array '" + arrays[i] +
                               "' is the label, which data.label names; "
                               "label = \"none\" and another name make it a column like others"};
    if (std::find(arrays.begin(), arrays.begin() + static_cast<std::ptrdiff_t>(i), arrays[i]) !=
        arrays.begin() + static_cast<std::ptrdiff_t>(i))
      return OptionMistake{arrays_option, "the array '" + arrays[i] + "' stands there twice"};
  }
  return {};
}

Result<std::unique_ptr<RecordReader>> open_npz(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto archive, InputFile::open(disk, file.path));
  TROUPE_ASSIGN(const auto members, npz_members(archive));
  std::vector<StoredArray> arrays;
  const auto add = [&](const std::string& column, const std::string& array) -> Status {
    const auto at = std::ranges::find(members, array, &NpzMember::array);
    if (at == members.end()) {
      std::string there;
      for (const NpzMember& member : members) there += (there.empty() ? "" : ", ") + member.array;
      const char* const advice = column == label_column ? "; data.label names another, or is \"none\""
                                                        : "; data.arrays names others";
      return data_loss(file.path + ": the archive has no array '" + array + "'; its arrays: " + there +
                       advice);
    }
    const std::string name = file.path + ":" + array;
    TROUPE_ASSIGN(arrays.emplace_back(), npy_array(at->file, at->offset, at->bytes, column, name));
    return {};
  };
  auto columns = arrays_of(file.options);
  if (columns.empty()) columns.emplace_back(feature_column);
  for (const std::string& column : columns) TROUPE_RETURN_IF_FAILED(add(column, column));
  if (has_own_labels(file.options)) TROUPE_RETURN_IF_FAILED(add(label_column, label_array(file.options)));
  return read_arrays("npz", std::move(arrays));
}

}  // namespace

Format npz_format() {
  return {.name = "npz", .open = open_npz, .keys = npz_keys, .labelled = has_own_labels, .check = check_npz};
}

}  // namespace troupe::data

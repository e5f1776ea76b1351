// The format npz: the samples are the rows of the array `image` of an archive (apps/data/arrays/npz.h). The labels are its array
// `label`, which is not read if the options say so.
#include "apps/data/arrays/npz.h"

#include <algorithm>

#include "apps/data/array_reader.h"

namespace troupe::data {
namespace {

Result<std::unique_ptr<RecordReader>> open(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto archive, InputFile::open(disk, file.path));
  TROUPE_ASSIGN(const auto members, npz_members(*archive));
  std::vector<StoredArray> arrays;
  for (const char* column : {feature_column, label_column}) {
    if (std::string_view(column) == label_column && !has_own_labels(file.options)) continue;
    const auto at = std::ranges::find(members, column, &NpzMember::array);
    if (at == members.end()) {
      std::string there;
      for (const NpzMember& member : members) there += (there.empty() ? "" : ", ") + member.array;
      return data_loss(file.path + ": the archive has no array '" + column + "'; its arrays: " + there);
    }
    const std::string name = file.path + ":" + column;
    TROUPE_ASSIGN(arrays.emplace_back(), npy_array(archive, at->offset, at->bytes, column, name));
  }
  return read_arrays("npz", std::move(arrays));
}

}  // namespace

Format npz_format() { return {.name = "npz", .open = open, .labelled = has_own_labels}; }

}  // namespace troupe::data

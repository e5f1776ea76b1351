#include "actors/checkpoint/saved_cells.h"

#include <map>

namespace troupe {

SavedCells SavedCells::restored(std::string checkpoint, const std::vector<ShardFile>& files,
                                const SavedTensors& tensors) {
  SavedCells saved(std::move(checkpoint));
  std::map<std::string, const SavedTensor*> by_name;
  for (const SavedTensor& tensor : tensors) by_name.emplace(tensor.name, &tensor);
  for (const ShardFile& file : files) {
    SavedTensors there;
    for (const auto& listed : file.tensors)
      if (const auto at = by_name.find(listed.name); at != by_name.end() && at->second->slice == listed.slice)
        there.push_back(*at->second);
    saved.add(file, there);
  }
  return saved;
}

void SavedCells::add(const ShardFile& file, const SavedTensors& tensors) {
  ShardFile place = file;
  place.tensors.clear();
  if (place.folder.empty()) place.folder = checkpoint_.substr(checkpoint_.rfind('/') + 1);
  const auto shared = std::make_shared<const ShardFile>(std::move(place));
  for (const SavedTensor& tensor : tensors)
    if (tensor.cell) places_[*tensor.cell] = {tensor.version, shared};
}

const ShardFile* SavedCells::find(const SavedTensor& value) const {
  const auto at = value.cell ? places_.find(*value.cell) : places_.end();
  return at != places_.end() && at->second.version == value.version ? at->second.file.get() : nullptr;
}

// An older file is worth its space while at least half of its bytes are current. So the files of the checkpoints that are kept
// never have more than twice the bytes of their values. What does not change is written at most once more, to a file without the
// rest.
SavedCells::Plan SavedCells::plan(const SavedTensors& values) const {
  std::map<const ShardFile*, uint64_t> current;
  for (const SavedTensor& value : values)
    if (const ShardFile* const file = find(value)) current[file] += value.value.bytes();
  Plan plan;
  std::map<const ShardFile*, size_t> places;
  for (const SavedTensor& value : values) {
    const ShardFile* const file = find(value);
    if (!file) {
      plan.changed.push_back(value);
    } else if (current[file] < file->bytes - current[file]) {
      plan.steady.push_back(value);
    } else {
      const auto [at, fresh] = places.emplace(file, plan.older.size());
      if (fresh) plan.older.push_back({*file, {}});
      SavedFile& older = plan.older[at->second];
      older.file.tensors.push_back({value.name, value.version, value.slice});
      older.tensors.push_back(value);
    }
  }
  return plan;
}

}  // namespace troupe

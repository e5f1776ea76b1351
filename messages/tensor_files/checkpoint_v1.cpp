#include "messages/tensor_files/checkpoint_v1.h"

#include <algorithm>

#include "messages/env/glob.h"

namespace troupe {

Result<CheckpointV1> CheckpointV1::open(Disk& disk, const std::string& pattern, TensorReading reading) {
  TROUPE_ASSIGN(const auto files, matching_paths(disk, pattern));
  if (files.empty()) return not_found("there is no checkpoint file " + pattern);
  CheckpointV1 checkpoint(pattern, reading);
  for (const std::string& file : files) {
    TROUPE_ASSIGN(auto bytes, disk.open(file));
    TROUPE_RETURN_IF_FAILED(checkpoint.add(std::move(bytes), file));
  }
  return checkpoint;
}

Status CheckpointV1::add(std::unique_ptr<ReadableFile> bytes, const std::string& file) {
  TROUPE_ASSIGN(SortedTable table, SortedTable::open(std::move(bytes), file));
  TROUPE_ASSIGN(auto variables, read_saved_variables(table, file));
  for (auto& [name, saved] : variables) {
    const auto [at, is_new] = variables_.try_emplace(name, Variable{{saved.dtype, saved.shape, {}}, {}});
    Variable& variable = at->second;
    if (variable.saved.dtype != saved.dtype || variable.saved.shape != saved.shape)
      return data_loss(file + ": " + name + " has another type or shape than in the files before");
    std::ranges::move(saved.parts, std::back_inserter(variable.saved.parts));
    variable.files.resize(variable.saved.parts.size(), tables_.size());
  }
  tables_.push_back(std::move(table));
  return {};
}

Result<const SavedVariable*> CheckpointV1::find(const std::string& name) const {
  const auto at = variables_.find(name);
  if (at != variables_.end()) return &at->second.saved;
  return not_found("Tensor name \"" + name + "\" not found in checkpoint files " + pattern_);
}

Result<Tensor> CheckpointV1::read(const std::string& name, const TensorSlice& slice) const {
  TROUPE_ASSIGN(const SavedVariable* const saved, find(name));
  const std::string where = "'" + name + "' of " + pattern_ + ": ";
  if (slice.within(saved->shape) != slice)
    return invalid_argument(where + "slice " + slice.text() + " lies outside its shape " +
                            saved->shape.text());
  auto tensor = read_slice(name, variables_.at(name), slice);
  if (tensor) return tensor;
  return Status(tensor.status().code(), where + tensor.status().text());
}

/// The parts are read before the memory of the result is allocated, which is then not larger than what the files have.
Result<Tensor> CheckpointV1::read_slice(const std::string& name, const Variable& variable,
                                        const TensorSlice& slice) const {
  const SavedVariable& saved = variable.saved;
  if (saved.parts.size() > max_tensor_parts)
    return resource_exhausted("it has more than " + std::to_string(max_tensor_parts) + " parts");
  std::vector<TensorSlice> ranges;
  for (const TensorSlice& part : saved.parts) ranges.push_back(*part.within(saved.shape));
  TROUPE_RETURN_IF_FAILED(check_cover(ranges, saved.shape));
  std::vector<std::pair<TensorSlice, Tensor>> parts;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i] != slice && !overlap(ranges[i], slice)) continue;
    TROUPE_RETURN_IF_FAILED(check_not_cancelled(reading_.cancelled));
    TROUPE_ASSIGN(Tensor part, read_saved_slice(tables_[variable.files[i]], name, saved, saved.parts[i],
                                                *reading_.memory));
    if (ranges[i] == slice) return part;
    parts.emplace_back(ranges[i], std::move(part));
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(slice.length, saved.dtype));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(saved.dtype, shape, *reading_.memory));
  for (const auto& [range, part] : parts) copy_slice(part, range, tensor, slice);
  return tensor;
}

}  // namespace troupe

#include "actors/checkpoint/restored_cells.h"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

/// Returns false only if no row is in both.
bool may_overlap(const RowSlice& a, const RowSlice& b) {
  if (a.count == 0 || b.count == 0) return false;
  if (a.row(a.count - 1) < b.first || b.row(b.count - 1) < a.first) return false;
  return a.stride != b.stride || (a.first - b.first) % a.stride == 0;
}

RowSlice all_rows(std::string name, int64_t rows) { return {std::move(name), rows, 0, 1, rows}; }

const std::string& whole_of(const std::string& name, const std::optional<RowSlice>& slice) {
  return slice ? slice->of : name;
}

/// Returns the rows of a cell; nothing if their number is not known.
std::optional<RowSlice> rows_of(const StateCell& cell) {
  if (cell.slice()) return cell.slice();
  const PartialShape& shape = cell.shape();
  if (!shape.fully_known() || shape.rank() == 0) return {};
  return all_rows(cell.name(), shape[0]);
}

RowSlice rows_of(const SavedTensor& tensor) {
  return tensor.slice ? *tensor.slice : all_rows(tensor.name, tensor.value.shape()[0]);
}

}  // namespace

RestoredCells::RestoredCells(const Cells& cells, const std::string& folder) : folder_(folder) {
  for (const auto& [name, cell] : cells)
    targets_.emplace(whole_of(name, cell->slice()), Target{cell, {name, {}, 0, cell->slice()}, {}});
}

bool RestoredCells::wants(const ShardFile::Saved& saved) const {
  const auto [begin, end] = targets_.equal_range(whole_of(saved.name, saved.slice));
  return std::any_of(begin, end, [&](const auto& entry) {
    const std::optional<RowSlice>& slice = entry.second.cell->slice();
    return !slice || !saved.slice || may_overlap(*slice, *saved.slice);
  });
}

Status RestoredCells::add(const SavedTensor& tensor) {
  const auto [begin, end] = targets_.equal_range(whole_of(tensor.name, tensor.slice));
  for (auto at = begin; at != end; ++at) {
    Target& target = at->second;
    TROUPE_RETURN_IF_FAILED(check(tensor, target));
    if (target.cell->slice() != tensor.slice) {
      TROUPE_RETURN_IF_FAILED(add_rows(tensor, target));
      continue;
    }
    target.got.clear();
    target.value.value = tensor.value;
    target.value.version = tensor.version;
  }
  return {};
}

Status RestoredCells::check(const SavedTensor& tensor, const Target& target) const {
  const StateCell& cell = *target.cell;
  const Shape& saved = tensor.value.shape();
  const auto mine = rows_of(cell);
  bool fits = tensor.value.dtype() == cell.dtype();
  if (cell.slice() == tensor.slice)
    fits = fits && cell.shape().compatible_with(saved);
  else
    fits = fits && mine && saved.rank() > 0 && rows_of(tensor).rows == mine->rows &&
           std::ranges::equal(cell.shape().dims().subspan(1), saved.dims().subspan(1));
  if (fits) return {};
  return invalid_argument(
      "variable " + cell.name() + " is " + std::string(name(cell.dtype())) + cell.shape().text() +
      (cell.slice() ? ", a part of " + std::to_string(mine->rows) + " rows" : std::string()) + ", but in " +
      folder_ + (tensor.slice ? " its part " + tensor.name : std::string(" it")) + " is " +
      tensor.value.signature() +
      (tensor.slice ? " of " + std::to_string(tensor.slice->rows) + " rows" : std::string()));
}

/// Copies the rows that both have.
Status RestoredCells::add_rows(const SavedTensor& tensor, Target& target) const {
  const RowSlice mine = *rows_of(*target.cell), theirs = rows_of(tensor);
  if (!may_overlap(mine, theirs)) return {};
  Tensor& value = target.value.value;
  if (!value.valid()) {
    TROUPE_ASSIGN(const Shape shape, target.cell->shape().to_shape(tensor.value.dtype()));
    TROUPE_ASSIGN(value, Tensor::allocate(tensor.value.dtype(), shape));
    target.got.assign(static_cast<size_t>(mine.count), false);
  }
  if (target.got.empty()) return {};
  const size_t row = value.bytes() / static_cast<size_t>(mine.count);
  for (int64_t i = 0; i < theirs.count; ++i) {
    const int64_t distance = theirs.row(i) - mine.first, at = distance / mine.stride;
    if (distance < 0 || distance % mine.stride != 0 || at >= mine.count) continue;
    std::memcpy(value.mutable_data() + static_cast<size_t>(at) * row,
                tensor.value.data() + static_cast<size_t>(i) * row, row);
    target.got[static_cast<size_t>(at)] = true;
  }
  target.value.version = std::max(target.value.version, tensor.version);
  return {};
}

Result<SavedTensors> RestoredCells::take() {
  SavedTensors result;
  for (auto& [whole, target] : targets_) {
    if (!target.value.value.valid()) continue;
    if (const auto lacking = std::ranges::count(target.got, false); lacking > 0)
      return invalid_argument("variable " + target.value.name + " has " + std::to_string(target.got.size()) +
                              " rows, but " + folder_ + " lacks " + std::to_string(lacking) + " of them");
    result.push_back(std::move(target.value));
  }
  return result;
}

}  // namespace troupe

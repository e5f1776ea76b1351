#include "apps/data/stream/streamed_batches.h"

#include <algorithm>
#include <numeric>

namespace troupe::data {
namespace {

void copy_sample(const Dataset& from, int64_t from_row, Dataset& to, int64_t to_row) {
  const auto columns = to.mutable_columns();
  for (size_t i = 0; i < columns.size(); ++i)
    copy_row(from.columns()[i].values, from_row, columns[i].values, to_row);
}

}  // namespace

StreamedBatches::StreamedBatches(std::unique_ptr<BlockSource> source, DrawOrder order, int64_t samples,
                                 int64_t batch)
    : Batches(samples, batch), source_(std::move(source)), order_(std::move(order)) {}

Result<Dataset> StreamedBatches::at(uint64_t step) {
  const auto [begin, end] = range_of(step);
  if (epoch_ != epoch_of(step) || position_ != begin) TROUPE_RETURN_IF_FAILED(seek(epoch_of(step), begin));
  const auto epoch = std::exchange(epoch_, std::nullopt);  // in case a draw fails
  TROUPE_ASSIGN(Dataset batch, allocate_like(buffer_, end - begin));
  for (int64_t row = 0; row < end - begin; ++row) TROUPE_RETURN_IF_FAILED(draw(batch, row));
  epoch_ = epoch;
  position_ = end;
  return batch;
}

Status StreamedBatches::seek(uint64_t epoch, int64_t position) {
  epoch_.reset();
  order_.begin(epoch);
  for (int64_t i = 0; i < position; ++i) order_.draw();
  TROUPE_RETURN_IF_FAILED(fill_buffer());
  epoch_ = epoch;
  position_ = position;
  return {};
}

/// Reads each block once, whatever the order of its samples in the buffer.
Status StreamedBatches::fill_buffer() {
  const auto slots = order_.slots();
  TROUPE_ASSIGN(buffer_, allocate_like(source_->columns(), static_cast<int64_t>(slots.size())));
  std::vector<size_t> by_block(slots.size());
  std::iota(by_block.begin(), by_block.end(), size_t{0});
  std::ranges::stable_sort(by_block, {}, [&](size_t slot) { return slots[slot].block; });
  for (const size_t slot : by_block) TROUPE_RETURN_IF_FAILED(read(slots[slot], slot));
  return {};
}

Status StreamedBatches::draw(Dataset& batch, int64_t row) {
  const auto [slot, is_refilled] = order_.draw();
  copy_sample(buffer_, static_cast<int64_t>(slot), batch, row);
  if (is_refilled) return read(order_.slots()[slot], slot);
  const size_t last = order_.slots().size();
  if (slot != last) copy_sample(buffer_, static_cast<int64_t>(last), buffer_, static_cast<int64_t>(slot));
  return {};
}

Status StreamedBatches::read(const DrawOrder::Sample& sample, size_t slot) {
  if (block_ != sample.block) {
    block_.reset();
    TROUPE_ASSIGN(block_samples_, source_->read(sample.block));
    block_ = sample.block;
  }
  copy_sample(block_samples_, sample.row, buffer_, static_cast<int64_t>(slot));
  return {};
}

}  // namespace troupe::data

#include "actors/services/reader/work_unit.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace troupe {
namespace {

/// So many records, or bytes, are read when one record is wanted: reading them costs less than another turn of the file thread.
constexpr uint64_t records_ahead = 256;
constexpr size_t bytes_ahead = size_t{64} << 10;
/// When one read yields so many bytes, it yields no more.
constexpr size_t max_batch_bytes = size_t{64} << 20;

Result<Tensor> vector_of(std::vector<std::string> strings) {
  TROUPE_ASSIGN(Tensor tensor,
                Tensor::allocate(DType::String, Shape::vector(static_cast<int64_t>(strings.size()))));
  std::ranges::move(strings, tensor.write<std::string>().begin());
  return tensor;
}

}  // namespace

struct WorkUnit::Strings {
  std::vector<std::string> keys, bytes;
};

WorkUnit::WorkUnit(const ReaderSpec& spec, std::string name, uint64_t yielded)
    : spec_(spec), name_(std::move(name)), yielded_(yielded) {
  if (spec_.kind != ReaderKind::Names) return;
  is_read_ = true;
  if (yielded_ == 0) failure_ = keep({{name_}, {name_}});
}

Status WorkUnit::open(Disk& disk) {
  if (stream_) return {};
  TROUPE_ASSIGN(auto stream, open_records(spec_, disk, name_));
  for (uint64_t i = 0; i < yielded_; ++i) {
    TROUPE_ASSIGN(const auto record, stream->next());
    if (!record) break;
  }
  stream_ = std::move(stream);
  return {};
}

void WorkUnit::read(Disk& disk, uint64_t wanted) {
  failure_ = open(disk);
  if (!failure_.ok()) return;
  Strings strings = take_waiting();
  failure_ = read_to(strings, wanted);
  if (Status kept = keep(std::move(strings)); !kept.ok()) failure_ = std::move(kept);
}

std::string WorkUnit::key() const {
  return spec_.kind == ReaderKind::WholeFile ? name_ : name_ + ':' + std::to_string(stream_->number());
}

Status WorkUnit::read_to(Strings& strings, uint64_t wanted) {
  const uint64_t most = wanted == 1 ? records_ahead : wanted;
  const size_t enough = wanted == 1 ? bytes_ahead : max_batch_bytes;
  for (size_t bytes = 0; strings.keys.size() < most && bytes < enough;) {
    const auto record = stream_->next();
    if (!record) return {record.status().code(), "file '" + name_ + "': " + record.status().text()};
    is_read_ = !record->has_value();
    if (is_read_) break;
    strings.keys.push_back(key());
    strings.bytes.emplace_back(**record);
    bytes += (*record)->size() + name_.size();
  }
  return {};
}

WorkUnit::Strings WorkUnit::take_waiting() {
  Strings strings;
  if (waiting() == 0) return strings;
  const auto copy = [&](const Tensor& tensor, std::vector<std::string>& to) {
    const auto waiting = tensor.as<std::string>().subspan(static_cast<size_t>(begin_));
    to.assign(waiting.begin(), waiting.end());
  };
  copy(batch_.keys, strings.keys);
  copy(batch_.bytes, strings.bytes);
  return strings;
}

Status WorkUnit::keep(Strings strings) {
  begin_ = end_ = 0;
  TROUPE_ASSIGN(batch_.keys, vector_of(std::move(strings.keys)));
  TROUPE_ASSIGN(batch_.bytes, vector_of(std::move(strings.bytes)));
  end_ = batch_.keys.elements();
  return {};
}

RecordBatch WorkUnit::yield(uint64_t most) {
  const int64_t end = begin_ + static_cast<int64_t>(std::min(most, waiting()));
  const bool all = begin_ == 0 && end == end_;
  RecordBatch yielded = all ? std::exchange(batch_, {})
                            : RecordBatch{batch_.keys.rows(begin_, end), batch_.bytes.rows(begin_, end)};
  yielded_ += static_cast<uint64_t>(end - begin_);
  begin_ = all ? 0 : end;
  if (all) end_ = 0;
  return yielded;
}

}  // namespace troupe

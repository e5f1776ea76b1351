#include "apps/data/sample_set.h"

#include <string_view>

#include "messages/values/crc32c.h"

namespace troupe::data {
namespace {

uint32_t checksum(const Tensor& values, uint32_t before) {
  if (is_integer(values.dtype()))
    return crc32c({reinterpret_cast<const char*>(values.data()), values.bytes()}, before);
  if (values.dtype() == DType::String)
    for (const std::string& text : values.as<std::string>()) before = crc32c(text, before);
  return before;
}

class MemorySet final : public SampleSet {
 public:
  explicit MemorySet(Dataset data) : data_(std::move(data)) {}
  int64_t samples() const override { return data_.samples(); }
  const Dataset& columns() const override { return data_; }
  std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override {
    return std::make_unique<MemoryBatches>(data_, batch, seed, shuffle);
  }

 private:
  Dataset data_;
};

}  // namespace

Fingerprint fingerprint(const SampleSet& set) {
  constexpr int64_t first = 64;
  Fingerprint found{.samples = set.samples()};
  if (found.samples == 0) return found;
  if (const auto samples = set.batches(first, 0, false)->at(0))
    for (const Column& column : samples->columns()) {
      found.checksum = checksum(column.values, found.checksum);
      if (column.is_ragged()) found.checksum = checksum(column.row_splits, found.checksum);
    }
  return found;
}

std::shared_ptr<const SampleSet> in_memory(Dataset data) {
  return std::make_shared<MemorySet>(std::move(data));
}

Result<std::shared_ptr<const SampleSet>> kept_in_memory(const SampleSet& set) {
  constexpr int64_t at_once = 256;
  TROUPE_ASSIGN(Dataset kept, allocate_like(set.columns(), set.samples()));
  const auto batches = set.batches(at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const Dataset samples, batches->at(static_cast<uint64_t>(i)));
    for (size_t column = 0; column < samples.columns().size(); ++column)
      copy_rows(samples.columns()[column].values, kept.mutable_columns()[column].values, i * at_once);
  }
  return in_memory(std::move(kept));
}

}  // namespace troupe::data

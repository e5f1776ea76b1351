#include "apps/data/sample_set.h"

namespace troupe::data {
namespace {

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

std::shared_ptr<const SampleSet> in_memory(Dataset data) {
  return std::make_shared<MemorySet>(std::move(data));
}

}  // namespace troupe::data

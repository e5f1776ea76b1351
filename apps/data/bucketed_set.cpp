#include "apps/data/bucketed_set.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <utility>

namespace troupe::data {
namespace {

/// How the lengths of samples are divided.
struct Buckets {
  LengthOf length_of;
  std::vector<int64_t> bounds;

  size_t count() const { return bounds.size() + 1; }
  Result<size_t> of(const Dataset& batch, int64_t row) const {
    TROUPE_ASSIGN(const int64_t length, length_of(batch, row));
    return static_cast<size_t>(std::ranges::lower_bound(bounds, length) - bounds.begin());
  }
};

int64_t batches_of(const std::vector<int64_t>& samples, int64_t batch) {
  return std::accumulate(samples.begin(), samples.end(), int64_t{0},
                         [&](int64_t sum, int64_t count) { return sum + (count + batch - 1) / batch; });
}

class BucketedBatches final : public Batches {
 public:
  /// `samples` are the numbers of samples of the buckets.
  BucketedBatches(std::unique_ptr<Batches> source, std::shared_ptr<const Buckets> buckets,
                  const std::vector<int64_t>& samples, int64_t batch)
      : Batches(batches_of(samples, batch)), source_(std::move(source)), buckets_(std::move(buckets)),
        batch_(batch), waiting_(buckets_->count()) {}

  Result<Dataset> at(uint64_t step) override {
    const uint64_t epoch = epoch_of(step), index = step % static_cast<uint64_t>(per_epoch());
    if (epoch_ != epoch || next_ > index) begin(epoch);
    for (;;) {
      const auto known = std::exchange(epoch_, std::nullopt);  // in case the batch cannot be made
      TROUPE_ASSIGN(Dataset made, make_next());
      epoch_ = known;
      if (next_++ == index) return made;
    }
  }

 private:
  struct Waiting {
    Dataset samples;  ///< has memory for a batch, or no columns
    int64_t count = 0;
  };

  void begin(uint64_t epoch) {
    epoch_ = current_ = epoch;
    next_ = read_ = 0;
    row_ = 0;
    samples_ = Dataset();
    for (Waiting& bucket : waiting_) bucket.count = 0;
  }

  Result<Dataset> make_next() {
    for (;;) {
      TROUPE_ASSIGN(const bool more, next_sample());
      if (!more) return rest();
      TROUPE_ASSIGN(const size_t bucket, buckets_->of(samples_, row_));
      TROUPE_RETURN_IF_FAILED(add(waiting_[bucket]));
      if (waiting_[bucket].count == batch_) return take(waiting_[bucket]);
    }
  }

  /// Moves to the next sample of the epoch. Returns false at its end.
  Result<bool> next_sample() {
    if (++row_ < samples_.samples()) return true;
    const auto per_epoch = static_cast<uint64_t>(source_->per_epoch());
    if (read_ == per_epoch) return false;
    TROUPE_ASSIGN(samples_, source_->at(current_ * per_epoch + read_));
    ++read_;
    row_ = 0;
    return true;
  }

  Status add(Waiting& bucket) {
    if (bucket.samples.columns().empty()) {
      TROUPE_ASSIGN(bucket.samples, allocate_like(samples_, batch_));
    }
    const auto columns = bucket.samples.mutable_columns();
    for (size_t i = 0; i < columns.size(); ++i)
      copy_row(samples_.columns()[i].values, row_, columns[i].values, bucket.count);
    ++bucket.count;
    return {};
  }

  static Dataset take(Waiting& bucket) {
    Dataset batch = bucket.samples.slice(0, bucket.count);
    bucket = {};
    return batch;
  }

  /// Returns the samples of the first bucket that has some.
  Result<Dataset> rest() {
    const auto left = std::ranges::find_if(waiting_, [](const Waiting& one) { return one.count != 0; });
    if (left != waiting_.end()) return take(*left);
    return failed_precondition("the lengths of samples have changed since they were counted");
  }

  std::unique_ptr<Batches> source_;
  std::shared_ptr<const Buckets> buckets_;
  int64_t batch_;
  std::vector<Waiting> waiting_;   ///< by bucket
  std::optional<uint64_t> epoch_;  ///< of the next batch; not set: unknown
  uint64_t current_ = 0;           ///< the epoch whose samples are read
  uint64_t next_ = 0;              ///< the next batch in the epoch
  uint64_t read_ = 0;              ///< how many batches of the source have been read in the epoch
  Dataset samples_;                ///< the batch of the source that was read last
  int64_t row_ = 0;                ///< the sample of it that is in work
};

class BucketedSet final : public SampleSet {
 public:
  BucketedSet(std::shared_ptr<const SampleSet> set, std::shared_ptr<const Buckets> buckets,
              std::vector<int64_t> samples)
      : set_(std::move(set)), buckets_(std::move(buckets)), samples_(std::move(samples)) {}

  int64_t samples() const override { return set_->samples(); }
  const Dataset& columns() const override { return set_->columns(); }
  std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override {
    return std::make_unique<BucketedBatches>(set_->batches(batch, seed, shuffle), buckets_, samples_, batch);
  }

 private:
  std::shared_ptr<const SampleSet> set_;
  std::shared_ptr<const Buckets> buckets_;
  std::vector<int64_t> samples_;  ///< of each bucket
};

/// Returns how many samples each bucket has.
Result<std::vector<int64_t>> count_samples(const SampleSet& set, const Buckets& buckets) {
  constexpr int64_t at_once = 256;
  std::vector<int64_t> counts(buckets.count());
  const auto batches = set.batches(at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const Dataset samples, batches->at(static_cast<uint64_t>(i)));
    for (int64_t row = 0; row < samples.samples(); ++row) {
      TROUPE_ASSIGN(const size_t bucket, buckets.of(samples, row));
      ++counts[bucket];
    }
  }
  return counts;
}

}  // namespace

Result<std::shared_ptr<const SampleSet>> in_buckets(std::shared_ptr<const SampleSet> set, LengthOf length_of,
                                                    std::vector<int64_t> bounds) {
  assert(std::ranges::is_sorted(bounds));
  auto buckets = std::make_shared<const Buckets>(Buckets{std::move(length_of), std::move(bounds)});
  TROUPE_ASSIGN(auto samples, count_samples(*set, *buckets));
  return std::shared_ptr<const SampleSet>(
      std::make_shared<BucketedSet>(std::move(set), std::move(buckets), std::move(samples)));
}

}  // namespace troupe::data

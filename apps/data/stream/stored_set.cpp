#include "apps/data/stream/stored_set.h"

#include <numeric>

#include "apps/data/stream/block_reader.h"
#include "apps/data/stream/prefetch.h"
#include "apps/data/stream/streamed_batches.h"

namespace troupe::data {
namespace {

constexpr PrefetchOptions ahead = {.ahead = 4, .threads = 1};

/// Returns the file of each block if the blocks must be read file by file, otherwise nothing.
std::vector<uint32_t> files_in_order(const BlockIndex& index) {
  std::vector<uint32_t> files;
  if (!index.is_compressed) return files;
  for (const Block& block : index.blocks) files.push_back(block.file);
  return files;
}

class StoredSet final : public SampleSet {
 public:
  StoredSet(Disk& disk, std::shared_ptr<const BlockIndex> index, const Part& part)
      : disk_(&disk), index_(std::move(index)), part_(part) {
    for (const Block& block : index_->blocks) {
      int64_t& samples = block_samples_.emplace_back(0);
      for (int64_t i = 0; i < block.records; ++i) samples += part_.contains(block.first + i);
    }
    samples_ = std::accumulate(block_samples_.begin(), block_samples_.end(), int64_t{0});
  }

  int64_t samples() const override { return samples_; }
  const Dataset& columns() const override { return index_->columns; }
  std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override {
    DrawOrder order(block_samples_, index_->options.buffer, seed, shuffle, files_in_order(*index_));
    return std::make_unique<Prefetch>(
        std::make_unique<StreamedBatches>(std::make_unique<BlockReader>(*disk_, index_, part_),
                                          std::move(order), samples_, batch),
        ahead);
  }

 private:
  Disk* disk_;
  std::shared_ptr<const BlockIndex> index_;
  Part part_;
  std::vector<int64_t> block_samples_;  ///< the number of samples of each block
  int64_t samples_ = 0;
};

Result<TrainAndValid> split(Disk& disk, const std::shared_ptr<const BlockIndex>& index, uint64_t seed) {
  const double fraction = index->options.valid_split;
  const int64_t fold = index->options.valid_fold;
  TrainAndValid data{std::make_shared<StoredSet>(disk, index, Part{Part::Of::Train, fraction, fold, seed}),
                     std::make_shared<StoredSet>(disk, index, Part{Part::Of::Valid, fraction, fold, seed})};
  if (data.train->samples() == 0 || data.valid->samples() == 0)
    return invalid_argument("data.valid.split = " + std::to_string(fraction) + " leaves " +
                            std::to_string(data.train->samples()) + " samples for training and " +
                            std::to_string(data.valid->samples()) +
                            " for validation; each needs at least one");
  return data;
}

}  // namespace

Result<TrainAndValid> open_stored(Disk& disk, const Options& options, uint64_t seed) {
  TROUPE_ASSIGN(auto train, index_blocks(disk, options, train_files(options)));
  if (options.valid_split > 0) return split(disk, train, seed);
  TrainAndValid data{std::make_shared<StoredSet>(disk, std::move(train), Part{}), nullptr};
  if (options.valid.empty()) return data;
  TROUPE_ASSIGN(auto valid, index_blocks(disk, options, valid_files(options)));
  data.valid = std::make_shared<StoredSet>(disk, std::move(valid), Part{});
  return data;
}

}  // namespace troupe::data

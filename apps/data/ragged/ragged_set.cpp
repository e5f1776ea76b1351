#include "apps/data/ragged/ragged_set.h"

#include <algorithm>
#include <iterator>

#include "apps/data/stream/prefetch.h"

namespace troupe::data {

Result<Dataset> with_ragged(const Dataset& samples, const RowParsers& parsers) {
  const auto is_source = [&](const Column& column) {
    return std::ranges::any_of(parsers,
                               [&](const auto& parser) { return parser->column().from == column.name; });
  };
  std::vector<Column> columns;
  for (const Column& column : samples.columns())
    if (!is_source(column)) columns.push_back(column);
  for (const auto& parser : parsers) {
    TROUPE_ASSIGN(auto made, parser->parse(*samples.find(parser->column().from)));
    std::ranges::move(made, std::back_inserter(columns));
  }
  return Dataset(std::move(columns));
}

namespace {

constexpr int64_t checked_at_once = 1024;  // samples

class RaggedSet final : public SampleSet {
 public:
  RaggedSet(std::shared_ptr<const SampleSet> set, RowParsers parsers, Dataset columns, size_t threads)
      : set_(std::move(set)), parsers_(std::move(parsers)), columns_(std::move(columns)), threads_(threads) {}

  int64_t samples() const override { return set_->samples(); }
  const Dataset& columns() const override { return columns_; }
  std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override {
    return std::make_unique<Prefetch>(
        set_->batches(batch, seed, shuffle), PrefetchOptions{.ahead = threads_ + 3, .threads = threads_},
        [parsers = parsers_](uint64_t, const Dataset& samples) { return with_ragged(samples, parsers); });
  }

 private:
  std::shared_ptr<const SampleSet> set_;
  RowParsers parsers_;
  Dataset columns_;
  size_t threads_;
};

/// Fails with InvalidArgument unless the column of which another is made is a column of strings.
Status check_source(const RaggedColumn& ragged, const Dataset& columns) {
  const Tensor* const values = columns.find(ragged.from);
  const std::string what = "data.ragged." + ragged.name + ": ";
  if (!values) return invalid_argument(what + "the data has no column '" + ragged.from + "'");
  if (values->dtype() == DType::String && values->shape().rank() == 1) return {};
  return invalid_argument(what + "the samples of column '" + ragged.from + "' are " + values->signature() +
                          "; expected a string for each");
}

/// Parses all samples and drops the result.
Status check_samples(const SampleSet& set, const RowParsers& parsers) {
  if (set.samples() == 0) return {};
  const auto batches = set.batches(checked_at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const Dataset samples, batches->at(static_cast<uint64_t>(i)));
    TROUPE_RETURN_IF_FAILED(with_ragged(samples, parsers).status());
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const SampleSet>> with_ragged(std::shared_ptr<const SampleSet> set, RowParsers parsers,
                                                     bool is_checked, size_t threads) {
  for (const auto& parser : parsers) TROUPE_RETURN_IF_FAILED(check_source(parser->column(), set->columns()));
  TROUPE_ASSIGN(Dataset columns, with_ragged(set->columns().slice(0, 0), parsers));
  if (is_checked) TROUPE_RETURN_IF_FAILED(check_samples(*set, parsers));
  return std::shared_ptr<const SampleSet>(
      std::make_shared<const RaggedSet>(std::move(set), std::move(parsers), std::move(columns), threads));
}

}  // namespace troupe::data

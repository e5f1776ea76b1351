#include "apps/data/ragged/ragged_set.h"

#include <algorithm>

#include "apps/data/stream/prefetch.h"

namespace troupe::data {
namespace {

constexpr size_t batches_ahead = 2;
constexpr int64_t checked_at_once = 1024;  // samples

Result<Dataset> parse(const Dataset& samples, const RowParsers& parsers) {
  const auto is_source = [&](const Column& column) {
    return std::ranges::any_of(parsers,
                               [&](const auto& parser) { return parser->column().from == column.name; });
  };
  std::vector<Column> columns;
  for (const Column& column : samples.columns())
    if (!is_source(column)) columns.push_back(column);
  for (const auto& parser : parsers) {
    TROUPE_ASSIGN(columns.emplace_back(), parser->parse(*samples.find(parser->column().from)));
  }
  return Dataset(std::move(columns));
}

class RaggedBatches final : public Batches {
 public:
  RaggedBatches(std::unique_ptr<Batches> batches, RowParsers parsers)
      : Batches(*batches), batches_(std::move(batches)), parsers_(std::move(parsers)) {}

  Result<Dataset> at(uint64_t step) override {
    TROUPE_ASSIGN(const Dataset batch, batches_->at(step));
    return parse(batch, parsers_);
  }

 private:
  std::unique_ptr<Batches> batches_;
  RowParsers parsers_;
};

class RaggedSet final : public SampleSet {
 public:
  RaggedSet(std::shared_ptr<const SampleSet> set, RowParsers parsers, Dataset columns)
      : set_(std::move(set)), parsers_(std::move(parsers)), columns_(std::move(columns)) {}

  int64_t samples() const override { return set_->samples(); }
  const Dataset& columns() const override { return columns_; }
  std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override {
    return std::make_unique<Prefetch>(
        std::make_unique<RaggedBatches>(set_->batches(batch, seed, shuffle), parsers_), batches_ahead);
  }

 private:
  std::shared_ptr<const SampleSet> set_;
  RowParsers parsers_;
  Dataset columns_;
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
  RaggedBatches batches(set.batches(checked_at_once, 0, false), parsers);
  for (int64_t i = 0; i < batches.per_epoch(); ++i)
    TROUPE_RETURN_IF_FAILED(batches.at(static_cast<uint64_t>(i)).status());
  return {};
}

}  // namespace

Result<std::shared_ptr<const SampleSet>> with_ragged(std::shared_ptr<const SampleSet> set, RowParsers parsers,
                                                     bool is_checked) {
  for (const auto& parser : parsers) TROUPE_RETURN_IF_FAILED(check_source(parser->column(), set->columns()));
  TROUPE_ASSIGN(Dataset columns, parse(set->columns().slice(0, 0), parsers));
  if (is_checked) TROUPE_RETURN_IF_FAILED(check_samples(*set, parsers));
  return std::shared_ptr<const SampleSet>(
      std::make_shared<const RaggedSet>(std::move(set), std::move(parsers), std::move(columns)));
}

}  // namespace troupe::data

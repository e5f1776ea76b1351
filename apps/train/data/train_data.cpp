#include "apps/train/data/train_data.h"

#include <algorithm>

#include "apps/config/encoded_columns.h"
#include "apps/config/mistake_places.h"
#include "apps/data/bucketed_set.h"
#include "apps/data/ragged/ragged_set.h"
#include "apps/data/windows.h"
#include "apps/train/data/cached_data.h"
#include "apps/train/data/mapped_set.h"

namespace troupe::train {
namespace {

std::shared_ptr<const data::SampleSet> mapped(std::shared_ptr<const data::SampleSet> set,
                                              const std::vector<config::Definition>& definitions,
                                              const config::RunConfig& config) {
  if (!set || definitions.empty()) return set;
  const auto map = [&](const Scope& scope, const config::Columns& columns, config::Diagnostics& diagnostics) {
    return config::build_data_map(definitions, scope.with_prefix("map"), columns, diagnostics);
  };
  return std::make_shared<MappedSet>(std::move(set), map, definitions, config);
}

/// Returns the samples of a table as the model gets them. Those in memory are computed once.
Result<std::shared_ptr<const data::SampleSet>> encoded(std::shared_ptr<const data::SampleSet> set,
                                                       const config::RunConfig& config) {
  const auto& table = config.data.columns;
  if (!set || table.empty() || config.raw_columns) return set;
  if (const auto missing = std::ranges::find_if_not(table, config::is_fitted); missing != table.end())
    return failed_precondition("data.columns." + missing->name + " is not fitted to the samples to train on");
  const auto map = [&](const Scope& scope, const config::Columns& columns, config::Diagnostics&) {
    return config::encode_columns(table, scope.with_prefix("encode"), columns);
  };
  const auto result =
      std::make_shared<MappedSet>(std::move(set), map, std::vector<config::Definition>(), config);
  if (config.data.stream) return std::shared_ptr<const data::SampleSet>(result);
  return data::kept_in_memory(*result);
}

Result<std::shared_ptr<const data::SampleSet>> in_windows(const std::shared_ptr<const data::SampleSet>& set,
                                                          const data::Options& options) {
  if (!set) return set;
  return data::windows(*set, *options.window, data::label_input(options));
}

/// Fails with InvalidArgument unless both sets have the same columns.
Status check_augmented(const data::Dataset& before, const data::Dataset& after) {
  for (size_t i = 0; i < after.columns().size(); ++i) {
    const data::Column& column = after.columns()[i];
    const Tensor* const former = before.find(column.name);
    if (!former)
      return invalid_argument("data.augment." + column.name + " is a new column; data.map can add it");
    if (former->dtype() != column.values.dtype() ||
        !std::ranges::equal(former->shape().dims().subspan(1), column.values.shape().dims().subspan(1)))
      return invalid_argument("data.augment." + column.name + " changes a sample from " +
                              former->signature() + " to " + column.values.signature());
  }
  return {};
}

/// Puts samples into buckets by the length of a ragged column, which is made only afterwards.
Result<std::shared_ptr<const data::SampleSet>> bucketed(std::shared_ptr<const data::SampleSet> set,
                                                        const data::RowParsers& parsers,
                                                        const config::Bucketing& bucket) {
  const auto by = std::ranges::find(parsers, bucket.by, [](const auto& one) { return one->column().name; });
  const auto length_of = [parser = *by](const data::Dataset& batch, int64_t row) -> Result<int64_t> {
    const data::RaggedColumn& column = parser->column();
    const Tensor* const source = batch.find(column.from);
    if (!source || source->dtype() != DType::String)
      return invalid_argument("data.bucket.by: ragged column '" + column.name + "' needs a column '" +
                              column.from + "' of strings");
    return parser->length_of(source->as<std::string>()[static_cast<size_t>(row)]);
  };
  return data::in_buckets(std::move(set), length_of, bucket.bounds);
}

/// Returns the samples of the files after data.map.
Result<data::TrainAndValid> load_mapped(Disk& disk, const config::RunConfig& config) {
  TROUPE_ASSIGN(auto data, data::load(disk, config.data, config.run.seed));
  TROUPE_ASSIGN(data.train, encoded(std::move(data.train), config));
  TROUPE_ASSIGN(data.valid, encoded(std::move(data.valid), config));
  if (config.data.window) {
    TROUPE_ASSIGN(data.train, in_windows(data.train, config.data));
    TROUPE_ASSIGN(data.valid, in_windows(data.valid, config.data));
  }
  data.train = mapped(std::move(data.train), config.map, config);
  data.valid = mapped(std::move(data.valid), config.map, config);
  return data;
}

/// Returns these samples from where they are kept.
Result<data::TrainAndValid> load_kept(Disk& disk, const config::RunConfig& config) {
  if (config.cache == config::Cache::File)
    return cached(disk, config, [&] { return load_mapped(disk, config); });
  TROUPE_ASSIGN(auto data, load_mapped(disk, config));
  if (config.cache == config::Cache::None) return data;
  TROUPE_ASSIGN(data.train, data::kept_in_memory(*data.train));
  if (data.valid) {
    TROUPE_ASSIGN(data.valid, data::kept_in_memory(*data.valid));
  }
  return data;
}

Result<data::TrainAndValid> load_all(Disk& disk, const config::RunConfig& config) try {
  TROUPE_ASSIGN(auto data, load_kept(disk, config));
  TROUPE_ASSIGN(const auto parsers, data::row_parsers(disk, config.ragged));
  if (config.bucket) {
    TROUPE_ASSIGN(data.train, bucketed(std::move(data.train), parsers, *config.bucket));
  }
  const auto before = data.train;
  data.train = mapped(std::move(data.train), config.augment, config);
  TROUPE_RETURN_IF_FAILED(check_augmented(before->columns(), data.train->columns()));
  if (config.ragged.empty()) return data;
  // Where that costs little; otherwise a wrong row fails its batch.
  const bool is_checked = !config.data.stream && config.map.empty() && config.augment.empty();
  const size_t threads = threads_of(config);
  TROUPE_ASSIGN(data.train, data::with_ragged(std::move(data.train), parsers, is_checked, threads));
  if (data.valid) {
    TROUPE_ASSIGN(data.valid, data::with_ragged(std::move(data.valid), parsers, is_checked, threads));
  }
  return data;
} catch (const Error& error) {
  return error.status();
}

}  // namespace

Result<data::TrainAndValid> load_data(Disk& disk, const config::RunConfig& config) {
  auto data = load_all(disk, config);
  if (!data) return config::with_file_place(disk, config, data.status());
  return data;
}

config::RunConfig with_fingerprint(config::RunConfig config, const data::SampleSet& train) {
  if (config.cluster.tasks.empty()) return config;
  const data::Fingerprint found = data::fingerprint(train);
  config.cluster.samples = found.samples;
  config.cluster.checksum = found.checksum;
  return config;
}

Result<data::TrainAndValid> load_same_data(Disk& disk, const config::RunConfig& config) {
  TROUPE_ASSIGN(auto data, load_data(disk, config));
  if (data.train->samples() == 0) return data_loss("the training data has no samples");
  if (config.cluster.samples == 0) return data;
  const data::Fingerprint found = data::fingerprint(*data.train);
  if (found.samples != config.cluster.samples)
    return invalid_argument("the training data has " + std::to_string(found.samples) + " samples here, but " +
                            std::to_string(config.cluster.samples) +
                            " where the training was started; all tasks must read the same files");
  const bool both_known = found.checksum != 0 && config.cluster.checksum != 0;
  if (both_known && found.checksum != config.cluster.checksum)
    return invalid_argument(
        "the training data is another one here than where the training was started: both have " +
        std::to_string(found.samples) +
        " samples, but the first ones differ; all tasks must read the same files");
  return data;
}

}  // namespace troupe::train

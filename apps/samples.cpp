#include "apps/samples.h"

#include <algorithm>
#include <filesystem>

#include "apps/runs/run_file.h"
#include "apps/train/data/train_data.h"
#include "messages/env/real_disk.h"
#include "messages/values/held_by.h"

namespace troupe {

struct Samples::Impl {
  /// The disk outlives the samples, which may read it again.
  RealDisk disk;
  int64_t batch = 0;
  uint64_t seed = 0;
  bool shuffle = false;
  std::shared_ptr<const data::SampleSet> set;

  /// Fills in all but the disk.
  Status open(const runs::RunFileText& file, const std::string& part,
              const std::vector<std::string>& settings) {
    TROUPE_ASSIGN(auto config, runs::load_run_file(disk, file, settings));
    runs::leave_cache(config);
    TROUPE_ASSIGN(const auto data, train::load_data(disk, config));
    batch = config.batch;
    seed = config.run.seed;
    shuffle = part == "train" && config.shuffle;
    if (part != "train" && part != "valid")
      return invalid_argument("the samples of a run file have the parts \"train\" and \"valid\", but not \"" +
                              part + "\"");
    set = part == "train" ? data.train : data.valid;
    return set ? Status() : invalid_argument(file.name + " holds no samples out: it has no data.valid");
  }
};

struct SampleBatches::Impl {
  std::shared_ptr<const void> samples;  ///< what the batches are read from
  std::unique_ptr<data::Batches> batches;
};

Samples Samples::read(const std::string& path, const std::string& part,
                      const std::vector<std::string>& settings) {
  const auto impl = std::make_shared<Impl>();
  const auto file = value_or_throw(runs::read_run_file(impl->disk, path));
  throw_if_failed(impl->open(file, part, settings));
  return Samples(impl);
}

Samples Samples::parse(const std::string& text, const std::string& part, const std::string& folder,
                       const std::vector<std::string>& settings, const std::string& name) {
  const auto impl = std::make_shared<Impl>();
  const std::string absolute = std::filesystem::absolute(folder).string();
  throw_if_failed(impl->open({text, name, absolute}, part, settings));
  return Samples(impl);
}

Samples Samples::from_tensors(const std::vector<std::pair<std::string, Tensor>>& columns) {
  if (columns.empty()) throw Error(invalid_argument("samples need at least one column"));
  std::vector<data::Column> all;
  for (const auto& [name, values] : columns) {
    if (!values.valid() || values.shape().rank() == 0)
      throw Error(invalid_argument("the column '" + name + "' is no tensor [samples, ...]"));
    if (name.empty() || std::ranges::find(all, name, &data::Column::name) != all.end())
      throw Error(invalid_argument(
          "the name of a column must differ from the others, and not be empty; found '" + name + "'"));
    if (!all.empty() && values.shape()[0] != all.front().samples())
      throw Error(invalid_argument("the column '" + name + "' has " + std::to_string(values.shape()[0]) +
                                   " samples, and '" + all.front().name + "' has " +
                                   std::to_string(all.front().samples())));
    all.push_back({name, values});
  }
  const auto impl = std::make_shared<Impl>();
  impl->batch = 32;
  impl->set = data::in_memory(data::Dataset(std::move(all)));
  return Samples(impl);
}

int64_t Samples::size() const { return held_by(impl_, "set of samples").set->samples(); }

std::vector<SampleColumn> Samples::columns() const {
  std::vector<SampleColumn> columns;
  for (const data::Column& column : held_by(impl_, "set of samples").set->columns().columns()) {
    const auto dims = column.values.shape().dims();
    std::vector<int64_t> sample;
    if (column.is_ragged()) sample.push_back(unknown_dim);
    for (size_t i = 1; i < dims.size(); ++i) sample.push_back(dims[i] == 0 ? unknown_dim : dims[i]);
    columns.push_back({column.name, column.values.dtype(), PartialShape(std::move(sample))});
  }
  return columns;
}

SampleBatches Samples::batches(const BatchOptions& options) const {
  if (options.size < 0)
    throw Error(invalid_argument("a batch cannot have " + std::to_string(options.size) + " samples"));
  if (size() == 0) throw Error(invalid_argument("there are no samples"));
  const int64_t batch = std::min(options.size == 0 ? impl_->batch : options.size, size());
  auto batches = impl_->set->batches(batch, options.seed.value_or(impl_->seed),
                                     options.shuffle.value_or(impl_->shuffle));
  return SampleBatches(std::make_shared<SampleBatches::Impl>(SampleBatches::Impl{impl_, std::move(batches)}));
}

int64_t SampleBatches::per_epoch() const {
  return held_by(impl_, "sequence of batches").batches->per_epoch();
}
bool SampleBatches::has_threads() const {
  return held_by(impl_, "sequence of batches").batches->queue().has_value();
}

std::vector<std::pair<std::string, Tensor>> SampleBatches::at(uint64_t batch) {
  const data::Dataset samples = value_or_throw(held_by(impl_, "sequence of batches").batches->at(batch));
  std::vector<std::pair<std::string, Tensor>> columns;
  for (const data::Column& column : samples.columns()) {
    columns.emplace_back(column.name, column.values);
    if (column.is_ragged()) columns.emplace_back(data::splits_name(column.name), column.row_splits);
  }
  return columns;
}

}  // namespace troupe

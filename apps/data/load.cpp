#include "apps/data/load.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/data/file_patterns.h"
#include "apps/data/random.h"
#include "apps/data/sources.h"
#include "apps/data/stream/stored_set.h"
#include "apps/data/windows.h"

namespace troupe::data {
namespace {

/// The files of one data set, each opened.
struct Sources {
  SourceFiles files;
  std::vector<std::unique_ptr<RecordReader>> readers;

  static Result<Sources> open(Disk& disk, const Options& options, const SourceFiles& files) {
    Sources sources{files, {}};
    for (size_t i = 0; i < files.files.size(); ++i) {
      TROUPE_ASSIGN(sources.readers.emplace_back(), open_source(disk, options, files, i));
      TROUPE_RETURN_IF_FAILED(
          check_alike(files, i, sources.readers[i]->schema(), sources.readers[0]->schema()));
    }
    return sources;
  }

  /// Returns the number of records of all files together, if all readers know theirs.
  std::optional<int64_t> records() const {
    int64_t sum = 0;
    for (const auto& reader : readers) {
      if (!reader->records()) return {};
      sum += *reader->records();
    }
    return sum;
  }
};

Status read_all(Sources& sources, std::vector<ColumnBuilder>& builders) {
  const int64_t batch = records_at_once(width(*sources.readers[0]));
  for (size_t i = 0; i < sources.readers.size(); ++i) {
    int64_t samples = 0;
    for (;;) {
      TROUPE_ASSIGN(const Dataset records, sources.readers[i]->next(batch));
      if (records.samples() == 0) break;
      samples += records.samples();
      for (ColumnBuilder& builder : builders) TROUPE_RETURN_IF_FAILED(builder.add(records));
    }
    if (samples == 0) return no_samples(sources.files.files[i]);
  }
  return {};
}

Result<Dataset> read_whole(Disk& disk, const Options& options, const SourceFiles& files) {
  TROUPE_ASSIGN(Sources sources, Sources::open(disk, options, files));
  TROUPE_ASSIGN(auto builders, make_builders(options, sources.readers.front()->schema(), sources.records()));
  TROUPE_RETURN_IF_FAILED(read_all(sources, builders));
  return finish(builders);
}

/// Reads a series whose labels are the values of one of its columns.
Result<Dataset> read_series(Disk& disk, const Options& options, const SourceFiles& files) {
  const std::string& column = options.window->label;
  Options without = options;
  without.window.reset();
  std::erase_if(without.inputs, [](const Input& input) { return input.from == label_column; });
  TROUPE_ASSIGN(const Dataset series, read_whole(disk, without, files));
  const Tensor* const values = series.find(column);
  if (!values || !is_floating(values->dtype()))
    return invalid_argument("data.window.label: '" + column + "' is " +
                            (values ? values->signature() : "no column") + "; expected a column of numbers");
  const auto shape = values->shape().dims().subspan(1);
  const Field field{column, values->dtype(), {shape.begin(), shape.end()}};
  const auto inputs = all_inputs(options);
  Input input = *std::ranges::find(inputs, label_column, &Input::from);
  input.from = column;
  TROUPE_ASSIGN(auto labels, ColumnBuilder::make(input, field, 1, series.samples()));
  TROUPE_RETURN_IF_FAILED(labels.add(series));
  std::vector<Column> columns(series.columns().begin(), series.columns().end());
  TROUPE_ASSIGN(Tensor label, labels.finish());
  columns.push_back({input.name, std::move(label)});
  return Dataset(std::move(columns));
}

/// Returns a number for the class of each sample.
Result<std::vector<int64_t>> classes_of(const Dataset& all, const Options& options) {
  const Tensor* const label = all.find(label_input(options));
  if (!label) return invalid_argument("data.valid.stratify: the data has no column 'label'");
  return class_numbers(*label, "data.valid.stratify");
}

/// Returns the samples in an order in which any stretch has nearly the same shares of the classes as the whole: those of a class
/// keep the given order and are spread evenly.
std::vector<int64_t> spread_evenly(const std::vector<int64_t>& order, const std::vector<int64_t>& classes) {
  std::map<int64_t, int64_t> counts, seen;
  for (const int64_t one : classes) ++counts[one];
  std::vector<std::pair<double, int64_t>> places;
  for (const int64_t sample : order) {
    const int64_t one = classes[static_cast<size_t>(sample)];
    places.emplace_back((static_cast<double>(seen[one]++) + 0.5) / static_cast<double>(counts[one]), sample);
  }
  std::ranges::stable_sort(places, {}, &std::pair<double, int64_t>::first);
  std::vector<int64_t> result;
  for (const auto& [place, sample] : places) result.push_back(sample);
  return result;
}

/// Splits off the end of each series, at least one sample but not all. The part for validation begins with the samples that precede
/// the first label of it, so that all labels that are held out are predicted.
Result<TrainAndValid> split_series(const Dataset& all, double fraction, const Window& window) {
  TROUPE_ASSIGN(const auto all_series, series_of(all, window));
  std::vector<int64_t> train, valid;
  for (const SampleRange& series : all_series) {
    const int64_t size = series.end - series.begin;
    const auto wanted = std::llround(static_cast<double>(size) * fraction);
    const int64_t end = size < 2 ? series.end : series.end - std::clamp<int64_t>(wanted, 1, size - 1);
    const int64_t begin = std::max(series.begin, end - window.length - window.ahead + 1);
    if (all_series.size() == 1)
      return TrainAndValid{in_memory(all.slice(0, end)), in_memory(all.slice(begin, series.end))};
    for (int64_t i = series.begin; i < end; ++i) train.push_back(i);
    for (int64_t i = begin; i < series.end && end < series.end; ++i) valid.push_back(i);
  }
  TROUPE_ASSIGN(Dataset to_train, all.select(train));
  TROUPE_ASSIGN(Dataset held_out, all.select(valid));
  return TrainAndValid{in_memory(std::move(to_train)), in_memory(std::move(held_out))};
}

/// Splits off a part of the samples for validation, at least one but not all. Both parts keep the order of the files. The parts for
/// validation of all folds have each sample once.
Result<TrainAndValid> split(const Dataset& all, const Options& options, uint64_t seed) {
  const double fraction = options.valid_split;
  const int64_t samples = all.samples(), fold = options.valid_fold;
  if (samples < 2)
    return invalid_argument("data.valid.split needs at least two samples, found " + std::to_string(samples));
  if (options.window) return split_series(all, fraction, *options.window);
  const auto cut = [&](int64_t folds) {
    return std::llround(static_cast<double>(samples) * fraction * static_cast<double>(folds));
  };
  const int64_t begin = std::min<int64_t>(cut(fold), samples - 1);
  const int64_t held_out =
      std::clamp<int64_t>(cut(fold + 1) - begin, 1, std::min(samples - 1, samples - begin));
  auto order = permutation(samples, seed, RandomStream::Split, 0);
  if (options.stratify) {
    TROUPE_ASSIGN(const auto classes, classes_of(all, options));
    order = spread_evenly(order, classes);
  }
  std::rotate(order.begin(), order.begin() + begin, order.begin() + begin + held_out);
  std::sort(order.begin(), order.begin() + held_out);
  std::sort(order.begin() + held_out, order.end());
  TROUPE_ASSIGN(Dataset valid, all.select(std::span(order).first(static_cast<size_t>(held_out))));
  TROUPE_ASSIGN(Dataset train, all.select(std::span(order).subspan(static_cast<size_t>(held_out))));
  return TrainAndValid{in_memory(std::move(train)), in_memory(std::move(valid))};
}

/// Fails with DataLoss if samples of the two data sets differ in shape.
Status check_alike(const Dataset& train, const Dataset& valid, const std::string& valid_file) {
  for (size_t i = 0; i < valid.columns().size(); ++i) {
    const Tensor &to_train = train.columns()[i].values, &to_validate = valid.columns()[i].values;
    if (!std::ranges::equal(to_train.shape().dims().subspan(1), to_validate.shape().dims().subspan(1)))
      return data_loss(valid_file + ": validation samples are " + to_validate.signature() +
                       ", but training samples are " + to_train.signature());
  }
  return {};
}

Result<TrainAndValid> load_whole(Disk& disk, const Options& options, uint64_t seed) {
  const auto read = [&](const SourceFiles& files) {
    return options.has_label_of_series() ? read_series(disk, options, files)
                                         : read_whole(disk, options, files);
  };
  TROUPE_ASSIGN(Dataset train, read(train_files(options)));
  if (options.valid_split > 0) return split(train, options, seed);
  if (options.valid.empty()) return TrainAndValid{in_memory(std::move(train)), nullptr};
  TROUPE_ASSIGN(Dataset valid, read(valid_files(options)));
  return TrainAndValid{in_memory(std::move(train)), in_memory(std::move(valid))};
}

}  // namespace

Result<TrainAndValid> load(Disk& disk, const Options& given, uint64_t seed) {
  TROUPE_ASSIGN(const Options options, with_matching_files(disk, given));
  TROUPE_ASSIGN(TrainAndValid data,
                options.stream ? open_stored(disk, options, seed) : load_whole(disk, options, seed));
  if (data.valid && !options.valid.empty())
    TROUPE_RETURN_IF_FAILED(check_alike(data.train->columns(), data.valid->columns(), options.valid.front()));
  return data;
}

}  // namespace troupe::data

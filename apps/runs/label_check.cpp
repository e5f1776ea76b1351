#include "apps/runs/label_check.h"

#include <algorithm>
#include <optional>

#include "apps/config/mistake_places.h"
#include "apps/data/file_patterns.h"
#include "apps/data/numbers.h"
#include "apps/data/sources.h"
#include "apps/runs/run_model.h"

namespace troupe::runs {
namespace {

constexpr int64_t samples_at_once = 4096;

/// Returns the number of the first label that is not in the range; nothing if there is none, or if they are not whole numbers.
Result<std::optional<int64_t>> first_outside(const Tensor* labels, const LabelRange& range) {
  std::optional<int64_t> found;
  if (!labels || !is_integer(labels->dtype())) return found;
  TROUPE_ASSIGN(const auto numbers, data::numbers_of(*labels));
  const auto at = std::ranges::find_if(
      numbers, [&](double label) { return label < 0 || label >= static_cast<double>(range.classes); });
  if (at != numbers.end()) found = at - numbers.begin();
  return found;
}

Result<bool> has_label_outside(const data::SampleSet& set, const LabelRange& range) {
  if (set.samples() == 0) return false;
  const auto batches = set.batches(samples_at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const data::Dataset batch, batches->at(static_cast<uint64_t>(i)));
    TROUPE_ASSIGN(const auto found, first_outside(batch.find(range.input), range));
    if (found) return true;
  }
  return false;
}

/// Looks through the files of a run for a label that is not in the range.
class FileCheck {
 public:
  FileCheck(Disk& disk, const config::RunConfig& config, data::Options options, const LabelRange& range)
      : disk_(disk), config_(config), options_(std::move(options)), range_(range) {
    std::erase_if(options_.columns,
                  [](const data::TableColumn& column) { return column.type == data::ColumnType::Image; });
    reads_ = options_.format != "images" && options_.columns.empty() == config.data.columns.empty();
  }

  /// Does nothing where reading labels takes reading images. Their labels are the names of folders, or words.
  Status run(const data::SourceFiles& files) const {
    for (size_t i = 0; i < files.files.size() && reads_; ++i) TROUPE_RETURN_IF_FAILED(run(files, i));
    return {};
  }

 private:
  Status run(const data::SourceFiles& files, size_t i) const {
    TROUPE_ASSIGN(const auto reader, data::open_source(disk_, options_, files, i));
    for (int64_t sample = 0;;) {
      TROUPE_ASSIGN(const data::Dataset batch, reader->next(samples_at_once));
      if (batch.samples() == 0) return {};
      const Tensor* const labels = batch.find(data::label_column);
      TROUPE_ASSIGN(const auto found, first_outside(labels, range_));
      if (found) {
        TROUPE_ASSIGN(const auto numbers, data::numbers_of(labels->rows(*found, *found + 1)));
        return outside(files, i, sample + *found, static_cast<int64_t>(numbers.front()));
      }
      sample += batch.samples();
    }
  }

  Status outside(const data::SourceFiles& files, size_t i, int64_t sample, int64_t label) const {
    TROUPE_ASSIGN(const std::string place, place_of(files, i, sample));
    const auto names = class_names(config_);
    const bool has_name = label >= 0 && static_cast<size_t>(label) < names.size();
    return data_loss(place + ": the label " + std::to_string(label) +
                     (has_name ? " ('" + names[static_cast<size_t>(label)] + "' in data.label_names)" : "") +
                     " is no class of the loss; allowed: 0 to " + std::to_string(range_.classes - 1) +
                     ", because " + range_.logits + " has " + std::to_string(range_.classes) +
                     " values for a sample");
  }

  /// Returns the file with the label of a sample, and the row in it or, if it has no rows, the number of the sample, counted from
  /// 1.
  Result<std::string> place_of(const data::SourceFiles& files, size_t i, int64_t sample) const {
    const std::string& file = i < files.labels.size() ? files.labels[i] : files.files[i];
    TROUPE_ASSIGN(const auto reader, data::open_source(disk_, options_, files, i));
    for (int64_t left = sample + 1; left > 0;) {
      TROUPE_ASSIGN(const int64_t skipped, reader->skip(left));
      if (skipped == 0) break;
      left -= skipped;
    }
    TROUPE_ASSIGN(const data::ReaderPosition behind, reader->position());
    return file + (behind.row > 0 ? ": row " + std::to_string(behind.row)
                                  : ": sample " + std::to_string(sample + 1));
  }

  Disk& disk_;
  const config::RunConfig& config_;
  data::Options options_;
  const LabelRange& range_;
  bool reads_ = false;
};

Status check_held_out(const FileCheck& files, const data::Options& options, const config::RunConfig& config,
                      const data::TrainAndValid& data, const LabelRange& range) {
  if (!data.valid) return {};
  if (config.map.empty() && config.augment.empty() && config.ragged.empty()) {
    TROUPE_ASSIGN(const bool is_wrong, has_label_outside(*data.valid, range));
    if (!is_wrong) return {};
  } else if (options.stream && options.valid.empty()) {
    return {};
  }
  return files.run(options.valid.empty() ? data::train_files(options) : data::valid_files(options));
}

}  // namespace

Status check_labels(Disk& disk, const config::RunConfig& config, const data::TrainAndValid& data,
                    const LabelRange& range) {
  const auto computes_label = [&](const std::vector<config::Definition>& definitions) {
    return std::ranges::find(definitions, range.input, &config::Definition::name) != definitions.end();
  };
  if (config.data.window || computes_label(config.map) || computes_label(config.augment)) return {};
  TROUPE_ASSIGN(const data::Options options, data::with_matching_files(disk, config.data));
  const FileCheck files(disk, config, options, range);
  Status status = check_held_out(files, options, config, data, range);
  if (status.ok()) status = files.run({options.test, options.test_labels});
  return status.ok() ? status : config::with_file_place(disk, config, status);
}

}  // namespace troupe::runs

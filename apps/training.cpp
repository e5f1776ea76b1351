#include "apps/training.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/cluster/processes.h"
#include "apps/config/cluster_file.h"
#include "apps/config/mistake_places.h"
#include "apps/inference/cancellable_disk.h"
#include "apps/observe/run_monitor.h"
#include "apps/runs/predicted_samples.h"
#include "apps/runs/run_file.h"
#include "apps/runs/run_result.h"
#include "apps/runs/trained_run.h"
#include "apps/train/data/train_data.h"
#include "apps/train/trainer.h"
#include "kernels/runtime/cancelled_by.h"
#include "messages/env/real_disk.h"
#include "messages/values/held_by.h"

namespace troupe {
namespace {

TrainingEnd end_of(train::Ending ending) {
  switch (ending) {
    case train::Ending::Completed: return TrainingEnd::Completed;
    case train::Ending::EarlyStopped: return TrainingEnd::EarlyStopped;
    case train::Ending::Stopped: return TrainingEnd::Stopped;
    case train::Ending::Diverged: return TrainingEnd::Diverged;
  }
  return TrainingEnd::Completed;
}

TrainingProgress progress_of(const observe::Pace& pace) {
  return {pace.step, pace.last_step, pace.epoch, pace.epoch_loss, pace.samples_per_second};
}

/// Calls the functions of the caller for the trainer. What they throw is kept until the training has ended.
class Callbacks {
 public:
  Callbacks(const TrainingOptions& options, train::TrainerOptions& trainer) : options_(options) {
    trainer.stop = &stop_;
    trainer.monitor = &monitor_;
    if (options.log) trainer.line = [this](const std::string& line) { log(line); };
    if (options.epoch)
      trainer.scored = [this](const observe::Scores& scores) {
        call([&] { return options_.epoch({scores.step, scores.epoch, scores.values}); });
      };
    if (!options.progress) return;
    trainer.progress_interval = options.progress_interval;
    trainer.progress = [this](const std::string&) {
      call([this] { return options_.progress(progress_of(monitor_.pace())); });
    };
  }

  void log(const std::string& line) {
    if (!options_.log) return;
    call([&] {
      options_.log(line);
      return true;
    });
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// A callback that has thrown is followed by no other.
  template <class Callback>
  void call(Callback callback) {
    if (failure_) return;
    try {
      if (!callback()) stop_ = true;
    } catch (...) {
      failure_ = std::current_exception();
      stop_ = true;
    }
  }

  const TrainingOptions& options_;
  observe::RunMonitor monitor_;
  std::atomic<bool> stop_ = false;
  const CancelledBy cancelled_by_{options_.cancellation, [this] { stop_ = true; }};
  std::exception_ptr failure_;
};

std::vector<std::string> with_folder(std::vector<std::string> settings, const std::string& runs) {
  if (!runs.empty()) settings.push_back("run.directory=" + config::to_toml(config::Value{runs, {}}));
  return settings;
}

/// Fails if the options contradict each other.
Status check(const TrainingOptions& options) {
  if (options.runs && options.runs->empty() && !options.resume.empty())
    return invalid_argument(
        "a training that is resumed writes to the folder of its run, so TrainingOptions::runs "
        "must not be empty");
  return {};
}

Result<train::TrainerOptions> trainer_options(Disk& disk, const TrainingOptions& options,
                                              config::RunConfig& config) {
  train::TrainerOptions trainer;
  trainer.resume = options.resume;
  trainer.memory = options.memory;
  if (options.runs && options.runs->empty()) {
    runs::leave_cache(config);
    trainer.dry_run_steps = std::numeric_limits<int64_t>::max();
  }
  const auto& checkpoint = config.train.checkpoint;
  if (!checkpoint.dir.empty()) {
    trainer.s3 = options.s3.value_or(S3Options());
    if (!checkpoint.endpoint.empty()) trainer.s3->endpoint = checkpoint.endpoint;
    if (!checkpoint.region.empty()) trainer.s3->region = checkpoint.region;
  }
  if (options.cluster.empty()) return trainer;
  TROUPE_ASSIGN(trainer.cluster, config::load_cluster(disk, options.cluster, cluster::owner_job, 0));
  TROUPE_RETURN_IF_FAILED(config::check_training_jobs(*trainer.cluster));
  config.use_tasks(config::tasks_of(*trainer.cluster), true);
  return trainer;
}

/// Trains, and keeps the result in the folder of the run.
Result<train::TrainingResult> train_and_keep(const config::RunConfig& config, const data::TrainAndValid& data,
                                             train::TrainerOptions& trainer) {
  observe::RunMonitor own;
  observe::RunMonitor& monitor = trainer.monitor ? *trainer.monitor : own;
  trainer.monitor = &monitor;
  auto result = train::train(config, data, trainer);
  if (!result) {
    const Status failure = config::with_definition(config, result.status());
    const observe::RunSnapshot run = monitor.snapshot();
    (void)runs::keep_result(run.folder,
                            runs::failed_result("failed", failure, Error(failure).exit_code(), run));
    return failure;
  }
  TROUPE_RETURN_IF_FAILED(runs::add_test_scores(config, *result));
  TROUPE_RETURN_IF_FAILED(runs::keep_result(result->folder, runs::as_json(*result)));
  return result;
}

}  // namespace

struct RunFile::Impl {
  runs::RunFileText file;
  std::vector<std::string> settings;
};

RunFile RunFile::read(const std::string& path, const std::vector<std::string>& settings) {
  RealDisk disk;
  RunFile file(std::make_shared<const Impl>(Impl{value_or_throw(runs::read_run_file(disk, path)), settings}));
  (void)file.effective();
  return file;
}

RunFile RunFile::parse(const std::string& text, const std::string& folder,
                       const std::vector<std::string>& settings, const std::string& name) {
  const std::string absolute = std::filesystem::absolute(folder).string();
  RunFile file(std::make_shared<const Impl>(Impl{{text, name, absolute}, settings}));
  (void)file.effective();
  return file;
}

std::string RunFile::effective() const {
  const Impl& run = held_by(impl_, "run file");
  return value_or_throw(runs::parse_run_file(run.file, run.settings)).effective_toml();
}

TrainingOutcome RunFile::train(const TrainingOptions& options) const {
  const Impl& run = held_by(impl_, "run file");
  throw_if_failed(check(options));
  RealDisk disk;
  auto config = value_or_throw(runs::load_run_file(
      disk, run.file, with_folder(run.settings, options.runs.value_or("")), options.resume));
  const auto data = value_or_throw(train::load_data(disk, config));
  auto trainer = value_or_throw(trainer_options(disk, options, config));
  Callbacks callbacks(options, trainer);
  for (const std::string& warning : value_or_throw(runs::warnings_of_run(disk, config, data)))
    if (options.log) callbacks.log(warning);
  auto result = train_and_keep(config, data, trainer);
  callbacks.rethrow();
  auto trained = value_or_throw(std::move(result));
  return {.end = end_of(trained.ending),
          .steps = trained.steps,
          .epochs = trained.epochs,
          .seconds = trained.seconds,
          .loss = trained.loss,
          .metrics = std::move(trained.evaluation),
          .folder = std::move(trained.folder),
          .checkpoint = std::move(trained.checkpoint)};
}

namespace {

/// Copies rows to a column from a row on. Throws Unimplemented if they have another size than those of the column.
void add_rows(const Tensor& rows, int64_t at, data::Column& to) {
  const auto size = [](const Tensor& tensor) { return tensor.shape().dims().subspan(1); };
  if (!std::ranges::equal(size(rows), size(to.values)))
    throw Error(unimplemented("the rows of '" + to.name + "' have different sizes: those of samples " +
                              std::to_string(at + 1) + " to " + std::to_string(at + rows.shape()[0]) +
                              " are " + rows.signature() + ", those before them " + to.values.signature() +
                              "; name other outputs, or run the model for some samples at a time"));
  data::copy_rows(rows, to.values, at);
}

}  // namespace

std::map<std::string, Tensor> predict(const std::string& path, const PredictionOptions& options) {
  RealDisk files;
  inference::CancellableDisk disk(files, options.cancellation);
  const auto run = value_or_throw(runs::open_trained_run(disk, path, options.settings, options.load));
  auto input = value_or_throw(runs::samples_of(disk, run, {options.files, options.part, options.keep}));
  const auto predicted = value_or_throw(
      runs::PredictedSamples::make(std::move(input), run.model, options.outputs, options.cancellation));
  data::Dataset all = value_or_throw(data::allocate_like(predicted->columns(), predicted->samples()));
  for (int64_t row = 0; row < predicted->samples();) {
    const data::Dataset batch = value_or_throw(predicted->next());
    for (data::Column& column : all.mutable_columns()) add_rows(*batch.find(column.name), row, column);
    row += batch.samples();
  }
  std::map<std::string, Tensor> results;
  for (data::Column& column : all.mutable_columns()) results.emplace(column.name, std::move(column.values));
  return results;
}

Metrics evaluate(const std::string& path, const EvaluationOptions& options) {
  RealDisk files;
  inference::CancellableDisk disk(files, options.cancellation);
  const auto run = value_or_throw(runs::open_trained_run(disk, path, options.settings, options.load));
  runs::LabelledFiles what{options.files, options.labels, options.part};
  if (what.files.empty() && what.part.empty() && run.config) what.part = runs::default_part(*run.config);
  const auto samples = value_or_throw(runs::samples_to_evaluate(disk, run, what));
  return runs::evaluate(run, *samples, options.cancellation);
}

}  // namespace troupe

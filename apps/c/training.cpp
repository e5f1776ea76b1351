#include "apps/training.h"

#include "apps/c/handles.h"
#include "apps/c/training.h"

struct troupe_run_file {
  troupe::RunFile value;
};

struct troupe_metrics {
  explicit troupe_metrics(troupe::Metrics metrics) : values(std::move(metrics)) {
    for (const auto& [name, value] : values) all.push_back({name.c_str(), value});
  }
  troupe_metrics(const troupe_metrics&) = delete;
  troupe_metrics& operator=(const troupe_metrics&) = delete;

  const troupe::Metrics values;
  std::vector<troupe_metric> all;
};

struct troupe_training {
  const troupe::TrainingOutcome outcome;
  const troupe_metrics metrics{outcome.metrics};
};

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

troupe_progress progress_of(const troupe::TrainingProgress& progress) {
  return {progress.step, progress.last_step.value_or(0), progress.epoch, progress.loss,
          progress.samples_per_second};
}

void set_callbacks(const troupe_training_options& from, troupe::TrainingOptions& options) {
  void* const context = from.context;
  if (from.progress)
    options.progress = [call = from.progress, context](const troupe::TrainingProgress& progress) {
      const troupe_progress told = progress_of(progress);
      return call(&told, context);
    };
  if (from.epoch)
    options.epoch = [call = from.epoch, context](const troupe::EpochReport& report) {
      const troupe_metrics metrics(report.metrics);
      const troupe_epoch told = {report.step, report.epochs, metrics.all.data(), metrics.all.size()};
      return call(&told, context);
    };
  if (from.log)
    options.log = [call = from.log, context](const std::string& line) { call(line.c_str(), context); };
}

troupe::TrainingOptions training_options(const troupe_training_options& from) {
  troupe::TrainingOptions options;
  if (from.runs) options.runs = from.runs;
  if (from.resume) options.resume = from.resume;
  if (from.cluster) options.cluster = from.cluster;
  options.memory = from.memory;
  options.cancellation = cancellation(from.cancellation);
  options.progress_interval = std::chrono::nanoseconds(from.progress_interval_ns);
  set_callbacks(from, options);
  return options;
}

}  // namespace

troupe_code troupe_run_file_read(const char* path, const char* const* settings, size_t setting_count,
                                 troupe_run_file** file) {
  return guarded([&] {
    const std::string name = text(path, "path");
    auto& result = needed(file, "file");
    result = new troupe_run_file{troupe::RunFile::read(name, texts(settings, setting_count, "settings"))};
  });
}

troupe_code troupe_run_file_parse(const char* run, const char* folder, const char* const* settings,
                                  size_t setting_count, troupe_run_file** file) {
  return guarded([&] {
    const std::string content = text(run, "text"), from = text(folder, "folder");
    auto& result = needed(file, "file");
    result = new troupe_run_file{
        troupe::RunFile::parse(content, from, texts(settings, setting_count, "settings"))};
  });
}

void troupe_run_file_destroy(troupe_run_file* file) { delete file; }

troupe_code troupe_train(const troupe_run_file* file, const troupe_training_options* options,
                         troupe_training** training) {
  return guarded([&] {
    const troupe::RunFile& run = needed(file, "file").value;
    auto& result = needed(training, "training");
    result = new troupe_training{run.train(training_options(known(options)))};
  });
}

void troupe_training_destroy(troupe_training* training) { delete training; }

troupe_code troupe_training_outcome(const troupe_training* training, troupe_outcome* outcome) {
  return guarded([&] {
    const auto& [from, metrics] = needed(training, "training");
    needed(outcome, "outcome") = {static_cast<troupe_training_end>(from.end),
                                  from.steps,
                                  from.epochs,
                                  from.seconds,
                                  from.loss,
                                  metrics.all.data(),
                                  metrics.all.size(),
                                  from.folder.c_str(),
                                  from.checkpoint.c_str()};
  });
}

troupe_code troupe_evaluate(const char* path, const char* part, const char* const* files, size_t file_count,
                            troupe_metrics** metrics) {
  return guarded([&] {
    const std::string folder = text(path, "path");
    auto& result = needed(metrics, "metrics");
    troupe::EvaluationOptions options;
    options.files = texts(files, file_count, "files");
    if (part) options.part = part;
    result = new troupe_metrics(troupe::evaluate(folder, options));
  });
}

void troupe_metrics_destroy(troupe_metrics* metrics) { delete metrics; }

troupe_code troupe_metrics_all(const troupe_metrics* metrics, const troupe_metric** all, size_t* count) {
  return guarded([&] {
    const auto& list = needed(metrics, "metrics").all;
    auto& first = needed(all, "all");
    needed(count, "count") = list.size();
    first = list.data();
  });
}

#include "apps/runs/run_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apps/config/mistake_places.h"
#include "apps/runs/run_model.h"
#include "apps/runs/trained_run.h"
#include "apps/text/escaped.h"
#include "apps/train/data/fit_data.h"
#include "kernels/core/kernel.h"
#include "messages/values/json_text.h"

namespace troupe::runs {
namespace {

Result<config::RunConfig> parse(const RunFileText& file, const std::vector<std::string>& settings,
                                const std::shared_ptr<const OpTable>& ops) {
  return config::parse_run_config(file.text, file.name, file.folder, settings, ops);
}

/// Returns the config of the run that is resumed; nothing if there is none, or if it cannot be read.
std::optional<config::RunConfig> earlier_config(Disk& disk, const config::RunConfig& config,
                                                const std::string& resume,
                                                std::shared_ptr<const OpTable> ops) {
  if (resume.empty()) return {};
  const std::string runs = config.run.directory + '/' + config.run.name;
  const auto folder = find_model(disk, resume == "auto" ? runs : resume);
  if (!folder) return {};
  auto earlier = config::load_run_config(disk, *folder + "/config.toml", {}, std::move(ops));
  return earlier ? std::optional(std::move(*earlier)) : std::nullopt;
}

/// Returns a warning about workers that receive no shard of the batches, or an empty string if every worker has one.
std::string idle_workers(const config::RunConfig& config) {
  const auto found = config.cluster.tasks.find("worker");
  const int64_t workers = found == config.cluster.tasks.end() ? 0 : found->second, shards = config.shards();
  const int64_t busy = shards * std::max<int64_t>(1, workers / config.groups());
  if (workers <= busy) return {};
  const std::string idle =
      std::to_string(workers - busy) + " of " + std::to_string(workers) + " workers idle";
  if (config.train.replication.mode == config::ReplicationMode::Local)
    return "train.replication.mode = \"local\" leaves " + idle + "; the other modes use all of them";
  return "train.replication.shards = " + std::to_string(shards) + " leaves " + idle;
}

}  // namespace

Result<RunFileText> read_run_file(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(auto text, config::read_document(disk, path));
  if (path.ends_with(".csv") || path.ends_with(".tsv"))
    return invalid_argument(path + " is a table, not a run file; `troupe init " + path +
                            "` writes a run file for it");
  std::string folder = std::filesystem::absolute(path).parent_path().string();
  if (!strict_json_line(folder))
    return invalid_argument("the name of the folder " + escaped(folder) +
                            " is not UTF-8, so that the files of a run could not name the data in it");
  return RunFileText{std::move(text), path, std::move(folder)};
}

Result<config::RunConfig> parse_run_file(const RunFileText& file, const std::vector<std::string>& settings) {
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  return parse(file, settings, library->ops);
}

Result<config::RunConfig> load_run_file(Disk& disk, const RunFileText& file,
                                        std::vector<std::string> settings, const std::string& resume) {
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  TROUPE_ASSIGN(auto config, parse(file, settings, library->ops));
  const auto add = [&](const std::vector<std::string>& more) -> Status {
    if (more.empty()) return {};
    settings.insert(settings.end(), more.begin(), more.end());
    TROUPE_ASSIGN(config, parse(file, settings, library->ops));
    return {};
  };
  if (const auto earlier = earlier_config(disk, config, resume, library->ops))
    TROUPE_RETURN_IF_FAILED(add(train::fitted_before(config, *earlier)));
  const auto fitted = train::fit_data(disk, config);
  if (!fitted) return config::with_file_place(disk, config, fitted.status());
  TROUPE_RETURN_IF_FAILED(add(*fitted));
  return config;
}

void leave_cache(config::RunConfig& config) {
  if (config.cache == config::Cache::File) config.cache = config::Cache::None;
}

Result<std::vector<std::string>> warnings_of_run(Disk& disk, const config::RunConfig& config,
                                                 const data::TrainAndValid& data) {
  const data::SampleSet& samples = *data.train;
  std::vector<std::string> warnings;
  for (const auto& [job, tasks] : config.cluster.tasks)
    if (const Status status = config::check_training_job(job); !status.ok())
      warnings.push_back(status.text());
  if (std::string idle = idle_workers(config); !idle.empty()) warnings.push_back(std::move(idle));
  if (samples.samples() > 0 && config.batch > samples.samples())
    warnings.push_back("data.batch = " + std::to_string(config.batch) + " is more than the " +
                       std::to_string(samples.samples()) + " samples to train on: a step uses all of them");
  const auto model = build_run_model(disk, config, samples.columns(), make_op_library()->ops);
  if (!model) return warnings;  // the graph for training has the same mistakes
  TROUPE_RETURN_IF_FAILED(model->mistake);
  if (model->labels) TROUPE_RETURN_IF_FAILED(check_labels(disk, config, data, *model->labels));
  warnings.insert(warnings.end(), model->warnings.begin(), model->warnings.end());
  return warnings;
}

}  // namespace troupe::runs

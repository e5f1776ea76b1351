#include "apps/draw/draw_subject.h"

#include "apps/cluster/planned_tasks.h"
#include "apps/draw/model_results.h"
#include "apps/golden/devices.h"
#include "apps/inference/model_source.h"
#include "apps/interop/read_graph.h"
#include "apps/runs/run_file.h"
#include "apps/runs/run_model.h"
#include "apps/runs/trained_run.h"
#include "apps/train/data/train_data.h"
#include "apps/train/graphs/training_graph.h"

namespace troupe::draw {
namespace {

/// Returns what a step is for.
std::vector<Output> results_of(const RunSignature& step) {
  std::vector<Output> results = step.fetches;
  for (const NodeId target : step.targets) results.push_back({target, Output::control});
  return results;
}

Result<Subject> read_run(Disk& disk, const DrawArguments& arguments, const OpLibrary& library) {
  TROUPE_ASSIGN(const auto file, runs::read_run_file(disk, arguments.file));
  TROUPE_ASSIGN(auto config, runs::load_run_file(disk, file, {}));
  auto tasks = arguments.tasks;
  if (tasks.empty())
    for (const auto& [job, count] : config.cluster.tasks) tasks[job] = static_cast<int>(count);
  config.use_tasks({tasks.begin(), tasks.end()}, false);
  auto loaded = train::load_data(disk, config);
  if (!loaded && loaded.status().code() == Code::NotFound) return data_loss(loaded.status().text());
  TROUPE_ASSIGN(const auto data, std::move(loaded));
  Graph graph(library.ops);
  TROUPE_ASSIGN(const auto training, train::build_training_graph(config, data.train->columns(), graph));
  Subject subject{config.run.name,
                  std::move(graph),
                  {},
                  {},
                  train::training_step(training),
                  tasks_of(tasks, static_cast<int>(config.devices()))};
  subject.results = results_of(subject.step);
  if (arguments.all || arguments.gradients) return subject;
  TROUPE_ASSIGN(auto model, runs::build_run_model(disk, config, data.train->columns(), library.ops));
  subject.to_place = std::move(subject.graph);
  subject.results = model_results(model.meta);
  subject.graph = std::move(model.meta.graph);
  return subject;
}

Result<Subject> read_graph(Disk& disk, const DrawArguments& arguments, const OpLibrary& library) {
  const auto info = disk.info(arguments.file);
  std::optional<interop::MetaGraph> meta;
  if (info && info->is_folder) {
    TROUPE_ASSIGN(const std::string found, runs::find_model(disk, arguments.file));
    TROUPE_ASSIGN(auto source, inference::open_model(disk, found, {"serve"}, library.ops));
    meta = std::move(source.meta);
  } else {
    TROUPE_ASSIGN(meta, interop::read_graph_file(disk, arguments.file, library.ops));
  }
  auto tasks = tasks_of(arguments.tasks, 1);
  if (tasks.empty()) {
    TROUPE_ASSIGN(tasks, golden::tasks_of(meta->graph));
  }
  TROUPE_ASSIGN(auto step,
                resolve_signature(meta->graph, arguments.feeds, arguments.fetches, arguments.targets));
  auto results = model_results(*meta);
  if (results.empty()) results = results_of(step);
  return Subject{arguments.file,  std::move(meta->graph), std::move(results), {},
                 std::move(step), std::move(tasks)};
}

}  // namespace

Result<Subject> read_subject(Disk& disk, const DrawArguments& arguments, const OpLibrary& library) {
  TROUPE_ASSIGN(Subject subject, arguments.is_run() ? read_run(disk, arguments, library)
                                                    : read_graph(disk, arguments, library));
  if (subject.tasks.empty()) subject.tasks = {{}};
  return subject;
}

}  // namespace troupe::draw

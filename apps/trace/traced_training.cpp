#include "apps/trace/traced_training.h"

#include <cstdio>
#include <memory>

#include "actors/runtime.h"
#include "apps/cluster/local_cluster.h"
#include "apps/runs/run_file.h"
#include "apps/train/data/train_data.h"
#include "apps/train/graphs/stage_devices.h"
#include "apps/train/graphs/training_graph.h"
#include "apps/train/rounds/local_rounds.h"

namespace troupe::trace {
namespace {

/// The processes that run the steps, if there are others than this one, and the runtime that asks them to.
struct Place {
  std::unique_ptr<cluster::Processes> processes;
  RuntimeOptions runtime;
};

Result<Place> make_place(const config::RunConfig& config, const TrainingTrace& options) {
  Place place;
  place.runtime.memory = options.memory;
  if (options.tasks.empty()) {
    place.runtime.threads = static_cast<size_t>(config.run.threads);
    place.runtime.tf32 = config.run.tf32;
    place.runtime.tasks = train::tasks_in_process(config);
    return place;
  }
  cluster::NodeOptions common;
  common.owner = cluster::owner_task();
  common.memory = options.memory;
  common.gpus = config.run.gpus;
  common.tf32 = config.run.tf32;
  TROUPE_ASSIGN(auto plan, cluster::plan_local(options.program, options.tasks, common));
  TROUPE_ASSIGN(place.processes,
                cluster::Processes::start(std::move(plan.processes), [](const std::string& line) {
                  std::fprintf(stderr, "%s\n", line.c_str());
                }));
  place.runtime.threads = 1;
  place.runtime.tasks = {{.job = cluster::owner_job, .gpus = 0}};
  place.runtime.cluster = plan.spec;
  return place;
}

std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

Result<std::vector<TracedStep>> trace_training(Disk& disk, const TrainingTrace& options) try {
  TROUPE_ASSIGN(const auto file, runs::read_run_file(disk, options.file));
  TROUPE_ASSIGN(auto config, runs::load_run_file(disk, file, options.set));
  if (!options.tasks.empty()) config.use_tasks({options.tasks.begin(), options.tasks.end()}, false);
  auto data = train::load_data(disk, config);
  if (!data && data.status().code() == Code::NotFound) return data_loss(data.status().text());
  if (!data) return data.status();
  TROUPE_ASSIGN(const Place place, make_place(config, options));
  Runtime runtime(place.runtime);
  Graph graph(runtime.ops());
  TROUPE_ASSIGN(const auto model, train::build_training_graph(config, data->train->columns(), graph));
  Session session = runtime.session(graph, {.seed = config.run.seed,
                                            .placement = Placement::Soft,
                                            .start_timeout = config.train.fault.start_timeout});
  session.run({model.initializer});
  const auto batches = data->train->batches(config.batch, config.run.seed, config.shuffle);
  train::LocalRounds rounds(session, model, config.train, *batches);
  std::vector<TracedStep> steps;
  for (int64_t i = 0; i < options.warmup + options.steps; ++i) {
    TracedStep step;
    rounds.profile_into(i < options.warmup ? nullptr : &step.devices);
    step.begin = now();
    rounds.advance(static_cast<uint64_t>(i), 1);
    step.end = now();
    if (i >= options.warmup) steps.push_back(std::move(step));
  }
  session.close();
  return steps;
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::trace

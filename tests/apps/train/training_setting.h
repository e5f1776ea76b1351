// TrainingSetting: a training of an example with initialized variables, in a process that has all tasks of its cluster. What
// workers do there is compared with what one graph with all towers does. Owned by the test; one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/data/load.h"
#include "apps/train/graphs/stage_devices.h"
#include "apps/train/rounds/local_rounds.h"
#include "messages/env/real_disk.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/project_files.h"

namespace troupe::test {

struct TrainingSetting {
  /// `example` is the name of a run file in examples/, `set` changes its keys. The process has the tasks of the run, and for the
  /// rest the options `process`. It uses no GPUs, unless `set` has run.gpus: what is computed on several devices differs in the
  /// last bits.
  TrainingSetting(const std::string& example, const std::vector<std::string>& set,
                  const RuntimeOptions& process = {.threads = 2})
      : config(value_or_throw(config::load_run_config(disk, project_path("examples/") + example + ".toml",
                                                      without_gpus(set), op_library()->ops))),
        runtime(with_tasks(process)), graph(runtime.ops()) {
    config.cluster.are_processes = true;  // the sessions of the workers use the variables, too
    data = value_or_throw(data::load(disk, config.data, config.run.seed)).train;
    model = value_or_throw(train::build_training_graph(config, data->columns(), graph));
    session.emplace(runtime.session(graph, {.seed = config.run.seed, .share_state = true}));
    session->run({}, {model.initializer}, {.training = true});
  }
  std::vector<Tensor> weights() { return session->run(model.variables); }

  RealDisk disk;
  config::RunConfig config;
  Runtime runtime;
  Graph graph;
  std::shared_ptr<const data::SampleSet> data;
  train::TrainingGraph model;
  std::optional<Session> session;

 private:
  static std::vector<std::string> without_gpus(std::vector<std::string> set) {
    set.insert(set.begin(), "run.gpus=0");
    return set;
  }
  RuntimeOptions with_tasks(RuntimeOptions options) const {
    options.tasks = train::tasks_in_process(config);
    return options;
  }
};

/// What a training yields.
struct TrainingOutcome {
  std::vector<Tensor> weights;
  std::vector<double> losses;
};

/// Runs rounds in one graph that has the towers of all shards.
inline TrainingOutcome in_one_graph(const std::string& example, const std::vector<std::string>& set,
                                    uint64_t rounds, const RuntimeOptions& process = {.threads = 2}) {
  TrainingSetting setting(example, set, process);
  const auto batches =
      setting.data->batches(setting.config.batch, setting.config.run.seed, setting.config.shuffle);
  train::LocalRounds local(*setting.session, setting.model, setting.config.train, *batches);
  TrainingOutcome outcome;
  for (uint64_t done = 0; done < rounds; ++done) outcome.losses.push_back(local.advance(done, rounds).at(0));
  outcome.weights = setting.weights();
  return outcome;
}

}  // namespace troupe::test

// What a run needs to know before it begins: whether the run file fits the cluster, the options of the runtime, and a line that
// describes the run. Functions without state, used by the trainer.
#pragma once

#include <string>

#include "actors/runtime.h"
#include "apps/train/graphs/training_graph.h"
#include "apps/train/trainer.h"

namespace troupe::train {

/// Returns whether each worker runs a graph of its own. Otherwise this process runs one graph on all tasks.
bool with_workers(const config::RunConfig& config, const TrainerOptions& options);
/// Returns whether tasks of a cluster own the variables for its workers.
bool has_servers(const config::RunConfig& config, const TrainerOptions& options);
/// Fails with InvalidArgument if keys of train.replication or train.fault do not fit the cluster.
Status check_setting(const config::RunConfig& config, const TrainerOptions& options);
RuntimeOptions runtime_options(const config::RunConfig& config, const TrainerOptions& options);
/// Returns the step after which the run ends unless something stops it earlier; UINT64_MAX: there is none.
uint64_t last_step(const config::RunConfig& config, const TrainerOptions& options, uint64_t steps_per_epoch);
/// Returns the step up to which rounds may run after `step` before the next end of an epoch or checkpoint.
uint64_t next_pause(const config::RunConfig& config, uint64_t step, uint64_t steps_per_epoch);
/// Returns what the run is about, for who watches it.
observe::RunFacts facts_of(const config::RunConfig& config, const TrainerOptions& options,
                           const data::TrainAndValid& data, const TrainingGraph& model,
                           uint64_t steps_per_epoch);
/// Returns the same as a line for the user.
std::string description(const config::RunConfig& config, const data::TrainAndValid& data,
                        const TrainingGraph& model, uint64_t steps_per_epoch);

}  // namespace troupe::train

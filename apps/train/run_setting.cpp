#include "apps/train/run_setting.h"

#include <fmt/format.h>
#include <algorithm>

#include "apps/text/score_text.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/graphs/stage_devices.h"

namespace troupe::train {
namespace {

std::string counted(int64_t count, const char* thing) {
  return count_text(static_cast<uint64_t>(count), thing);
}

}  // namespace

bool with_workers(const config::RunConfig& config, const TrainerOptions& options) {
  return options.cluster && config.cluster.tasks.contains("worker") && !config.is_pipelined();
}

bool has_servers(const config::RunConfig& config, const TrainerOptions& options) {
  return with_workers(config, options) && !is_among_peers(config);
}

Status check_setting(const config::RunConfig& config, const TrainerOptions& options) {
  const auto& replication = config.train.replication;
  if ((replication.mode == config::ReplicationMode::Async ||
       replication.mode == config::ReplicationMode::Ssp) &&
      !with_workers(config, options))
    return invalid_argument(
        "the modes \"async\" and \"ssp\" of train.replication need workers in separate processes, as with "
        "--local ps=1,worker=2 or --cluster");
  if (replication.mode == config::ReplicationMode::Hogwild && options.cluster)
    return invalid_argument(
        "the mode \"hogwild\" of train.replication trains with threads of one process; it allows neither "
        "--local nor --cluster");
  if (is_among_peers(config) && config.cluster.tasks.contains("ps"))
    return invalid_argument(
        "the modes \"allreduce\" and \"local_sgd\" of train.replication keep the variables on the workers; "
        "the cluster must have no ps, as with --local worker=2");
  if (replication.backup_workers >= config.shards())
    return invalid_argument(
        "train.replication.backup_workers = " + std::to_string(replication.backup_workers) +
        " must be less than the number of shards, " + std::to_string(config.shards()));
  if (config.train.fault.mirror && !has_servers(config, options))
    return invalid_argument(
        "train.fault.mirror needs variables that tasks of a cluster own for its workers, as with --local "
        "ps=2,worker=2");
  return {};
}

RuntimeOptions runtime_options(const config::RunConfig& config, const TrainerOptions& trainer) {
  RuntimeOptions options;
  options.threads = static_cast<size_t>(config.run.threads);
  options.tf32 = config.run.tf32;
  options.memory = trainer.memory;
  options.s3 = trainer.s3;
  if (trainer.cluster) {
    options.tasks = {{.job = "client", .gpus = 0}};
    options.cluster = trainer.cluster;
    options.heartbeat = config.train.fault.heartbeat;
    return options;
  }
  options.tasks = tasks_in_process(config);
  const auto asked = static_cast<int64_t>(options.tasks.size()) * options.tasks.front().cpus;
  options.devices = static_cast<int>(std::max<int64_t>(options.devices, asked));
  return options;
}

uint64_t last_step(const config::RunConfig& config, const TrainerOptions& options, uint64_t steps_per_epoch) {
  uint64_t last = UINT64_MAX;
  const auto& train = config.train;
  if (options.dry_run_steps > 0) last = static_cast<uint64_t>(options.dry_run_steps);
  if (train.max_steps) last = std::min(last, static_cast<uint64_t>(*train.max_steps));
  if (train.max_epochs) last = std::min(last, static_cast<uint64_t>(*train.max_epochs) * steps_per_epoch);
  return last;
}

uint64_t next_pause(const config::RunConfig& config, uint64_t step, uint64_t steps_per_epoch) {
  const auto multiple_of = [&](uint64_t steps) { return (step / steps + 1) * steps; };
  const int64_t every = config.train.checkpoint.every.steps;
  const uint64_t epoch_end = multiple_of(steps_per_epoch);
  return every > 0 ? std::min(epoch_end, multiple_of(static_cast<uint64_t>(every))) : epoch_end;
}

observe::RunFacts facts_of(const config::RunConfig& config, const TrainerOptions& options,
                           const data::TrainAndValid& data, const TrainingGraph& model,
                           uint64_t steps_per_epoch) {
  observe::RunFacts facts{
      config.run.name, data.train->samples(), model.parameters, config.batch, steps_per_epoch, {}, {}};
  if (const uint64_t last = last_step(config, options, steps_per_epoch); last != UINT64_MAX)
    facts.last_step = last;
  if (config.train.max_epochs) facts.max_epochs = static_cast<uint64_t>(*config.train.max_epochs);
  return facts;
}

std::string description(const config::RunConfig& config, const data::TrainAndValid& data,
                        const TrainingGraph& model, uint64_t steps_per_epoch) {
  const auto shards = static_cast<int64_t>(model.shards.size()) / model.micro_batches;
  const std::string pipelined =
      config.is_pipelined()
          ? fmt::format(" of {}, {} on {} each", counted(model.micro_batches, "micro-batch"),
                        counted(config.stages(), "stage"), counted(config.model.split_over, "device"))
          : std::string();
  return fmt::format("{}: {} samples, {} held out, {} parameters, batch {} in {}{}, {} steps per epoch",
                     config.run.name, data.train->samples(), data.valid ? data.valid->samples() : 0,
                     model.parameters, config.batch, counted(shards, "shard"), pipelined, steps_per_epoch);
}

}  // namespace troupe::train

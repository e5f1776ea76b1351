#include "apps/train/trainer.h"

#include <fmt/format.h>

#include "apps/train/data/train_data.h"
#include "apps/train/training_run.h"

namespace troupe::train {

Result<TrainingResult> train(const config::RunConfig& config, const data::TrainAndValid& data,
                             const TrainerOptions& options) {
  if (data.train->samples() == 0) return data_loss("the training data has no samples");
  const config::RunConfig fingerprinted = with_fingerprint(config, *data.train);
  TrainerOptions current = options;
  const int64_t max_restarts =
      options.cluster && options.dry_run_steps == 0 ? config.train.fault.max_restarts : 0;
  for (int64_t restarts = 0;;) {
    Outcome outcome = run_once(fingerprinted, current, data, restarts > 0);
    const bool stopped = options.stop && options.stop->load();
    if (outcome.result || stopped || restarts == max_restarts ||
        !retry_may_help(outcome.result.status().code()))
      return std::move(outcome.result);
    ++restarts;
    if (options.monitor)
      for (const std::string& task : outcome.silent) options.monitor->restarted(task);
    if (options.line)
      options.line(
          fmt::format("{}; restart {} of {}", outcome.result.status().message(), restarts, max_restarts));
    if (options.recover) TROUPE_RETURN_IF_FAILED(options.recover(outcome.silent));
    if (!outcome.folder.empty()) current.resume = outcome.folder;
  }
}

}  // namespace troupe::train

// What a training that has ended leaves behind: the scores of the samples for testing, and result.json in the folder of the run.
// Functions without state that read and write files; the thread of the trainer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/train/trainer.h"

namespace troupe::runs {

/// Returns "completed", "early_stopped", "stopped" or "diverged".
const char* name(train::Ending ending);

/// Returns the part of the time of training steps in which they waited for batches.
double input_share(const train::TrainingResult& result);

nlohmann::ordered_json as_json(const train::TrainingResult& result);

/// Writes the result to the folder of the run, if it has one, with the time.
Status keep_result(const std::string& folder, nlohmann::ordered_json result);

/// Returns what keep_result() keeps of a training that has failed. `ending`: "failed", or "stopped" if that was asked for. `run` is
/// the run as it was at its end.
nlohmann::ordered_json failed_result(const std::string& ending, const Status& failure, int exit_code,
                                     const observe::RunSnapshot& run);

/// Evaluates the model of a run that has ended on the samples for testing, if the run file has any, and adds the scores.
Status add_test_scores(const config::RunConfig& config, train::TrainingResult& result);

}  // namespace troupe::runs

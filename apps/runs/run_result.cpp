#include "apps/runs/run_result.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "apps/runs/trained_run.h"
#include "messages/env/real_disk.h"
#include "messages/values/json_text.h"

namespace troupe::runs {

const char* name(train::Ending ending) {
  switch (ending) {
    case train::Ending::Completed: return "completed";
    case train::Ending::EarlyStopped: return "early_stopped";
    case train::Ending::Stopped: return "stopped";
    case train::Ending::Diverged: return "diverged";
  }
  return "";
}

double input_share(const train::TrainingResult& result) {
  return result.step_seconds > 0 ? result.input_seconds / result.step_seconds : 0;
}

nlohmann::ordered_json as_json(const train::TrainingResult& result) {
  nlohmann::ordered_json object = {
      {"ending", name(result.ending)},     {"steps", result.steps}, {"epochs", result.epochs},
      {"seconds", result.seconds},         {"loss", result.loss},   {"train/loss", result.epoch_loss},
      {"input_share", input_share(result)}};
  if (!result.reason.empty()) object["reason"] = result.reason;
  for (const auto& [key, value] : result.evaluation) object[key] = value;
  object["folder"] = result.folder;
  object["checkpoint"] = result.checkpoint.empty() ? nullptr : nlohmann::ordered_json(result.checkpoint);
  if (!result.checkpoint.empty()) object["checkpoint_step"] = result.checkpoint_step;
  return object;
}

Status keep_result(const std::string& folder, nlohmann::ordered_json result) {
  if (folder.empty()) return {};
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  result["time"] = static_cast<double>(now.count()) / 1000;
  RealDisk disk;
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, folder + "/result.json"));
  TROUPE_RETURN_IF_FAILED(file.write(json_line(result) + '\n'));
  return file.commit();
}

nlohmann::ordered_json failed_result(const std::string& ending, const Status& failure, int exit_code,
                                     const observe::RunSnapshot& run) {
  const uint64_t per_epoch = std::max<uint64_t>(run.facts.steps_per_epoch, 1);
  nlohmann::ordered_json result = {{"ending", ending},
                                   {"error", failure.message()},
                                   {"code", name(failure.code())},
                                   {"exit_code", exit_code},
                                   {"steps", run.pace.step},
                                   {"epochs", run.pace.step / per_epoch},
                                   {"seconds", run.time - run.started},
                                   {"folder", run.folder}};
  if (run.checkpoint.empty()) return result;
  result["checkpoint"] = run.checkpoint;
  result["checkpoint_step"] = run.checkpoint_step;
  return result;
}

Status add_test_scores(const config::RunConfig& config, train::TrainingResult& result) try {
  const bool has_ended =
      result.ending == train::Ending::Completed || result.ending == train::Ending::EarlyStopped;
  if (config.data.test.empty() || result.folder.empty() || !has_ended) return {};
  RealDisk disk;
  TROUPE_ASSIGN(const auto run, open_trained_run(disk, result.folder, {},
                                                 {.threads = static_cast<size_t>(config.run.threads)}));
  TROUPE_ASSIGN(const auto samples, samples_to_evaluate(disk, run, {{}, {}, "test"}));
  for (const auto& [name, value] : evaluate(run, *samples))
    result.evaluation.emplace_back("test/" + name, value);
  return {};
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::runs

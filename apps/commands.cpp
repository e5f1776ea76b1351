#include "apps/commands.h"

#include <unistd.h>
#include <csignal>
#include <cstdio>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/data/dataset.h"
#include "apps/train/trainer.h"
#include "apps/train/training_graph.h"
#include "kernels/kernel.h"
#include "messages/real_disk.h"

namespace troupe::commands {
namespace {

constexpr int bad_data = 3, diverged = 4;

std::atomic<bool> stop_requested{false};

// The first signal asks for an orderly end, the second one ends at once.
void on_signal(int signal) {
  if (stop_requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

int failed(const Status& status) {
  std::fprintf(stderr, "troupe: %s\n", status.message().c_str());
  return Error(status).exit_code();
}

Result<config::RunConfig> load(const TrainArguments& arguments) {
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  RealDisk disk;
  return config::load_run_config(disk, arguments.file, arguments.set, library->ops);
}

int failed_to_load(const Status& status) {
  const int code = failed(status);
  return status.code() == Code::InvalidArgument ? code : bad_data;
}

const char* name(train::Ending ending) {
  switch (ending) {
    case train::Ending::Completed: return "completed";
    case train::Ending::EarlyStopped: return "early_stopped";
    case train::Ending::Stopped: return "stopped";
    case train::Ending::Diverged: return "diverged";
  }
  return "";
}

void print_json(const train::TrainingResult& result) {
  std::printf("{\"ending\": \"%s\", \"steps\": %llu, \"epochs\": %llu, \"seconds\": %.3f",
              name(result.ending), static_cast<unsigned long long>(result.steps),
              static_cast<unsigned long long>(result.epochs), result.seconds);
  for (const auto& [key, value] : result.evaluation) std::printf(", \"%s\": %.6g", key.c_str(), value);
  std::printf(", \"folder\": \"%s\"}\n", result.folder.c_str());
}

void print_summary(const train::TrainingResult& result) {
  std::printf("%s after %llu steps (%llu epochs) in %.2f s", name(result.ending),
              static_cast<unsigned long long>(result.steps), static_cast<unsigned long long>(result.epochs),
              result.seconds);
  for (const auto& [key, value] : result.evaluation) std::printf("  %s %.4f", key.c_str(), value);
  std::printf("\n");
  if (!result.folder.empty()) std::printf("written to %s\n", result.folder.c_str());
}

}  // namespace

int train(const TrainArguments& arguments) {
  const auto config = load(arguments);
  if (!config) return failed(config.status());
  RealDisk disk;
  auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status());
  train::TrainerOptions options;
  options.resume = arguments.resume;
  options.dry_run_steps = arguments.dry_run_steps;
  options.stop = &stop_requested;
  const bool talks = !arguments.quiet && !arguments.json;
  if (talks) options.line = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
  if (talks && isatty(STDOUT_FILENO) != 0)
    options.progress = [](const std::string& line) {
      std::printf("\r\033[K%s", line.c_str());
      std::fflush(stdout);
    };
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  const auto result = train::train(*config, std::move(*data), options);
  if (options.progress) std::printf("\n");
  if (!result) return failed(result.status());
  if (arguments.json)
    print_json(*result);
  else if (!arguments.quiet)
    print_summary(*result);
  return result->ending == train::Ending::Diverged ? diverged : 0;
}

int check(const TrainArguments& arguments) {
  const auto config = load(arguments);
  if (!config) return failed(config.status());
  RealDisk disk;
  const auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status());
  Graph graph(make_op_library()->ops);
  const auto model = train::build_training_graph(*config, data->train, graph);
  if (!model) return failed(model.status());
  const auto samples = static_cast<long long>(data->train.samples());
  const auto held_out = static_cast<long long>(data->valid ? data->valid->samples() : 0);
  const auto parameters = static_cast<long long>(model->parameters);
  const char* format =
      arguments.json
          ? "{\"ok\": true, \"samples\": %lld, \"held_out\": %lld, \"parameters\": %lld, \"nodes\": %zu}\n"
          : "ok: %lld samples, %lld held out, %lld parameters, %zu nodes\n";
  std::printf(format, samples, held_out, parameters, graph.size());
  return 0;
}

int version(bool json) {
  std::printf(json ? "{\"version\": \"%s\"}\n" : "troupe %s\n", TROUPE_VERSION);
  return 0;
}

}  // namespace troupe::commands

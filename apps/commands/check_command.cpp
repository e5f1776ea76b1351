// The subcommand check: validates a run file and its data without training.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/run_file.h"
#include "apps/runs/run_file.h"
#include "apps/train/data/train_data.h"
#include "apps/train/graphs/step_memory.h"
#include "apps/train/graphs/training_graph.h"
#include "kernels/core/kernel.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

nlohmann::json as_json(const std::vector<train::TaskMemory>& tasks) {
  auto list = nlohmann::json::array();
  for (const train::TaskMemory& task : tasks)
    list.push_back({{"task", task.task},
                    {"variable_bytes", task.variables},
                    {"step_bytes", task.step},
                    {"sent_bytes", task.sent}});
  return list;
}

void print(const std::vector<train::TaskMemory>& tasks) {
  const auto mib = [](size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  for (const train::TaskMemory& task : tasks)
    std::printf(
        "%s: about %.1f MiB for variables and %.1f MiB for the tensors of a step; sends %.1f MiB a step\n",
        task.task.c_str(), mib(task.variables), mib(task.step), mib(task.sent));
}

int check(const RunFile& run) {
  auto config = load(run);
  if (!config) return failed(config.status(), run.json);
  runs::leave_cache(*config);
  RealDisk disk;
  const auto data = train::load_data(disk, *config);
  if (!data) return failed_to_load(data.status(), run.json);
  const auto library = make_op_library();
  Graph graph(library->ops);
  const auto model = train::build_training_graph(*config, data->train->columns(), graph);
  if (!model) return failed(model.status(), run.json);
  if (const Status status = warn_of_run(disk, *config, *data, false); !status.ok())
    return failed_to_load(status, run.json);
  const auto memory = train::estimate_memory(*config, graph, *model, *library);
  if (!memory && memory.status().code() != Code::Unimplemented) return failed(memory.status(), run.json);
  const int64_t samples = data->train->samples(), held_out = data->valid ? data->valid->samples() : 0;
  if (run.json) {
    print_json({{"ok", true},
                {"samples", samples},
                {"held_out", held_out},
                {"parameters", model->parameters},
                {"nodes", graph.size()},
                {"memory", memory ? as_json(*memory) : nullptr}});
  } else {
    std::printf("ok: %lld samples, %lld held out, %lld parameters, %zu nodes\n",
                static_cast<long long>(samples), static_cast<long long>(held_out),
                static_cast<long long>(model->parameters), graph.size());
    if (memory)
      print(*memory);
    else
      std::printf("memory: not estimated: %s\n", memory.status().message().c_str());
  }
  return 0;
}

}  // namespace

void add_check_command(CLI::App& app, int& result) {
  const auto run = std::make_shared<RunFile>();
  auto* command = add_command(app, "check", "Check a run file, its data and shapes, without training.",
                              "troupe check examples/digits.toml");
  add_run_file(*command, *run);
  command->callback([run, &result] { result = check(*run); });
}

}  // namespace troupe::commands

// The subcommand check: validates a run file and its data without training.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/run_file.h"
#include "apps/data/load.h"
#include "apps/train/training_graph.h"
#include "kernels/core/kernel.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

int check(const RunFile& run) {
  const auto config = load(run);
  if (!config) return failed(config.status(), run.json);
  RealDisk disk;
  const auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status(), run.json);
  Graph graph(make_op_library()->ops);
  const auto model = train::build_training_graph(*config, data->train, graph);
  if (!model) return failed(model.status(), run.json);
  warn_of_idle_tasks(*config);
  const int64_t samples = data->train.samples(), held_out = data->valid ? data->valid->samples() : 0;
  if (run.json)
    print_json({{"ok", true},
                {"samples", samples},
                {"held_out", held_out},
                {"parameters", model->parameters},
                {"nodes", graph.size()}});
  else
    std::printf("ok: %lld samples, %lld held out, %lld parameters, %zu nodes\n",
                static_cast<long long>(samples), static_cast<long long>(held_out),
                static_cast<long long>(model->parameters), graph.size());
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

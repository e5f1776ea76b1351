// The subcommand trace: a timeline of steps.
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/graph_file_options.h"
#include "apps/trace/traced_training.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct TraceArguments {
  golden::GraphFileOptions graph;
  trace::TrainingTrace training;
  std::string local, out = "trace.json";
  bool json = false;
};

/// Traces steps of a TensorFlow graph. Throws Error.
std::vector<trace::TracedStep> trace_graph(Disk& disk, const TraceArguments& arguments) {
  const golden::GraphFile graph = open_graph(disk, arguments.graph);
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  for (int64_t i = 0; i < arguments.training.warmup; ++i) graph.run();
  std::vector<trace::TracedStep> steps(static_cast<size_t>(arguments.training.steps));
  for (trace::TracedStep& step : steps) {
    step.begin = now();
    graph.run({.profile = &step.devices});
    step.end = now();
  }
  return steps;
}

Result<std::vector<trace::TracedStep>> trace_steps(Disk& disk, TraceArguments& arguments) {
  const std::string& file = arguments.graph.file;
  if (!file.ends_with(".toml")) {
    if (!arguments.local.empty())
      return invalid_argument("--local is for run files; a graph runs on the devices that its nodes request");
    return trace_graph(disk, arguments);
  }
  arguments.training.file = file;
  arguments.training.program = this_program();
  arguments.training.memory = arguments.graph.memory;
  if (!arguments.local.empty()) {
    TROUPE_ASSIGN(arguments.training.tasks, parse_training_tasks(arguments.local));
  }
  return trace::trace_training(disk, arguments.training);
}

Status write(Disk& disk, const std::string& path, const std::string& text) {
  TROUPE_ASSIGN(auto file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(text));
  return file.commit();
}

int trace(TraceArguments& arguments) try {
  RealDisk disk;
  const auto steps = trace_steps(disk, arguments);
  if (!steps) return failed_to_open(steps.status(), arguments.json);
  if (const Status status = write(disk, arguments.out, trace::trace_json(*steps)); !status.ok())
    return failed(status, arguments.json);
  print_files({arguments.out}, arguments.json);
  return 0;
} catch (const Error& error) {
  return failed(error.status(), arguments.json);
}

}  // namespace

void add_trace_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<TraceArguments>();
  auto* command =
      add_command(app, "trace",
                  "Write a timeline of steps of a run file's training or of a TensorFlow graph, for "
                  "ui.perfetto.dev.",
                  "troupe trace examples/digits.toml --local ps=1,worker=1 --steps 20 -o trace.json");
  add_graph_options(*command, arguments->graph);
  command->get_option("graph")->description(
      "run file (TOML), GraphDef of TensorFlow, or (*.meta) MetaGraphDef");
  command
      ->add_option("--set", arguments->training.set, "override a value of the run file: --set data.batch=8")
      ->take_all();
  command->add_option("--local", arguments->local,
                      "for a run file: use processes of this machine: ps=1,worker=2");
  command->add_option("--steps", arguments->training.steps, "number of traced steps; default: 10")
      ->check(CLI::Range(1, 10000));
  command->add_option("--warmup", arguments->training.warmup, "number of steps before them; default: 3")
      ->check(CLI::Range(0, 1000000));
  command->add_option("-o,--out", arguments->out, "file to write; default: trace.json");
  command->add_flag("--json", arguments->json, "print the name of the file as one line of JSON");
  command->callback([arguments, &result] { result = trace(*arguments); });
}

}  // namespace troupe::commands

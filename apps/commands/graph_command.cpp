// The subcommand graph: draws a graph.
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/draw/draw_command.h"

namespace troupe::commands {
namespace {

int draw_graph(draw::DrawArguments& arguments, const std::string& local, bool json) {
  if (!local.empty()) {
    auto tasks = arguments.is_run() ? parse_training_tasks(local) : parse_tasks(local);
    if (!tasks) return failed(tasks.status(), json);
    arguments.tasks = std::move(*tasks);
  }
  auto files = draw::draw(arguments);
  if (!files) return failed_to_open(files.status(), json);
  const auto pictures = draw::make_pictures(*files);
  files->insert(files->end(), pictures.begin(), pictures.end());
  print_files(*files, json);
  return 0;
}

}  // namespace

void add_graph_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<draw::DrawArguments>();
  const auto local = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  auto* command =
      app.add_subcommand(
             "graph",
             "Draw a graph as it was built, and as it is placed and partitioned. Writes dot files, "
             "and SVG files if graphviz is installed.")
          ->footer("Example: troupe graph examples/digits.toml --local ps=1,worker=2 --out digits");
  command->add_option("file", arguments->file, "run file (TOML), GraphDef or (*.meta) MetaGraphDef")
      ->required();
  command->add_option("--feed", arguments->feeds, "tensor that the step is fed");
  command->add_option("--fetch", arguments->fetches, "tensor that the step computes");
  command->add_option("--target", arguments->targets, "node that the step runs for its effect");
  command->add_option("--local", *local, "tasks on which the graph is placed: ps=1,worker=2");
  command->add_option("--out", arguments->out, "prefix of the names of the files");
  command->add_flag("--json", *json, "print the names of the files as one line of JSON");
  command->callback([arguments, local, json, &result] { result = draw_graph(*arguments, *local, *json); });
}

}  // namespace troupe::commands

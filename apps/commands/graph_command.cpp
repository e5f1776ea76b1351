// The subcommand graph: draws a graph.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/draw/draw_command.h"

namespace troupe::commands {
namespace {

/// Fails with InvalidArgument if the name of the file to write has the ending of a form in which graphs are not drawn, and no form
/// is given beside it.
Status check_drawing(const draw::DrawArguments& arguments) {
  constexpr std::array<std::string_view, 3> known = {".dot", ".svg", ".html"};
  const std::string ending = ending_of(arguments.out);
  if (ending.empty() || !arguments.form.empty() || std::ranges::find(known, ending) != known.end()) return {};
  return invalid_argument("-o " + arguments.out + ": graph writes no " + ending +
                          " files; allowed: .dot, .svg, .html, or a name without an ending, with which those "
                          "of several files begin");
}

int draw_graph(draw::DrawArguments& arguments, const std::string& local, bool json) {
  if (const Status mistake = check_drawing(arguments); !mistake.ok()) return failed(mistake, json, bad_usage);
  if (!local.empty()) {
    auto tasks = arguments.is_run() ? parse_training_tasks(local) : parse_tasks(local);
    if (!tasks) return failed(tasks.status(), json);
    arguments.tasks = std::move(*tasks);
  }
  const auto files = draw::draw(arguments);
  if (!files) return failed_to_open(files.status(), json);
  print_files(*files, json);
  return 0;
}

}  // namespace

void add_graph_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<draw::DrawArguments>();
  const auto local = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  const auto depth = std::make_shared<int>(-1);
  auto* command = add_command(
      app, "graph",
      "Draw a model for readers, and the graph of a step as it is placed and partitioned. Pictures "
      "need graphviz; without it only dot files are written.",
      "troupe graph examples/digits.toml -o digits.html");
  command
      ->add_option(
          "file", arguments->file,
          "run file (TOML), GraphDef or (*.meta) MetaGraphDef, or the folder of a run or a saved model")
      ->required();
  command->add_option("--feed", arguments->feeds, "tensor that the step is fed");
  command->add_option("--fetch", arguments->fetches, "tensor that the step computes");
  command->add_option("--target", arguments->targets, "node that the step runs for its effect");
  command->add_option("--local", *local, "tasks on which the graph is placed: ps=1,worker=2");
  command->add_option(
      "-o,--out", arguments->out,
      "a file, whose ending is its form (.dot, .svg, .html), or the prefix of the names of several");
  command->add_option("--form", arguments->form, "dot, svg, or html: a page whose scopes open with a click")
      ->check(CLI::IsMember({"dot", "svg", "html"}));
  command
      ->add_option(
          "--depth", *depth,
          "how many scopes inside each other are open; default: 1, or 0 if that shows more than 30 boxes")
      ->check(CLI::Range(0, 100));
  command->add_flag("--gradients", arguments->gradients,
                    "draw the training: gradients, updates and the state of the optimizer, too");
  command->add_flag("--all", arguments->all,
                    "draw every node, also constants and initialisers, without scopes");
  command->add_flag("--json", *json, "print the names of the files as one line of JSON");
  command->callback([arguments, local, json, depth, &result] {
    if (*depth >= 0) arguments->depth = static_cast<size_t>(*depth);
    result = draw_graph(*arguments, *local, *json);
  });
}

}  // namespace troupe::commands

#include "apps/commands/graph_file_options.h"

#include <CLI/CLI.hpp>

#include "apps/commands/command_support.h"

namespace troupe::commands {

void add_graph_options(CLI::App& command, golden::GraphFileOptions& graph) {
  command.add_option("graph", graph.file, "GraphDef of TensorFlow, or (*.meta) MetaGraphDef, binary or text")
      ->required();
  command.add_option("--init", graph.init, "node to run once before the steps");
  command.add_option("--checkpoint", graph.checkpoint,
                     "prefix of a TensorFlow checkpoint (V2) from which variables are restored");
  command.add_option("--feed", graph.feeds, "value of a tensor: NAME=FILE.npy");
  command.add_option("--fetch", graph.fetches, "tensor to compute: NAME or NAME:OUTPUT");
  command.add_option("--target", graph.targets, "node to run for its effect");
  command.add_option("--threads", graph.threads, "compute threads; 0: one per core")
      ->check(CLI::Range(0, 1024));
  command.add_option("--devices", graph.devices, "the most devices that the graph may use; default: 64")
      ->check(CLI::Range(1, 1 << 16));
  add_memory(command, graph.memory);
}

golden::GraphFile open_graph(Disk& disk, const golden::GraphFileOptions& options) try {
  if (options.file.ends_with(".toml"))
    throw Error(invalid_argument(options.file + " is a run file, not a graph; `troupe train " + options.file +
                                 "` trains it"));
  return golden::GraphFile(disk, options);
} catch (const Error& error) {
  if (error.status().code() != Code::NotFound) throw;
  throw Error(invalid_argument(error.status().text()).at_node(error.status().op(), error.status().node()));
}

}  // namespace troupe::commands

// The subcommand run: runs steps of a TensorFlow graph.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/graph_file_options.h"
#include "apps/commands/master_options.h"
#include "apps/config/schema.h"
#include "apps/data/arrays/npz.h"
#include "graph/build/graph_text.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

constexpr size_t max_printed = 100;  // the most elements of a tensor that are printed

struct RunArguments {
  golden::GraphFileOptions graph;
  MasterArguments master;
  long long steps = 1;
  std::string timeout;
  std::string out;
  bool json = false;
};

void print(const std::vector<std::string>& names, const std::vector<Tensor>& values, bool json) {
  nlohmann::ordered_json object;
  for (size_t i = 0; i < values.size(); ++i) object[names[i]] = tensor_text(values[i], max_printed);
  if (json) return print_json(object);
  for (size_t i = 0; i < values.size(); ++i)
    std::printf("%s = %s\n", names[i].c_str(), tensor_text(values[i], max_printed).c_str());
}

Status save(Disk& disk, const std::string& path, const std::vector<std::string>& names,
            const std::vector<Tensor>& values) {
  std::map<std::string, Tensor> arrays;
  for (size_t i = 0; i < values.size(); ++i) arrays[names[i]] = values[i];
  TROUPE_ASSIGN(const std::string bytes, data::write_npz(arrays));
  TROUPE_ASSIGN(auto file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(bytes));
  return file.commit();
}

/// Returns nothing if queue runners feed the graph and their input has ended.
std::optional<std::vector<Tensor>> run_if_input_is_left(const golden::GraphFile& graph,
                                                        const StepOptions& options) try {
  return graph.run(options);
} catch (const Error& error) {
  if (graph.has_queue_runners() && error.status().code() == Code::OutOfRange) return std::nullopt;
  throw;
}

StepOptions step_options(const RunArguments& arguments) {
  StepOptions options;
  if (arguments.timeout.empty()) return options;
  const auto timeout = config::parse_nanoseconds(arguments.timeout);
  if (!timeout)
    throw Error(
        invalid_argument("--timeout '" + arguments.timeout + "' is not a time such as \"500ms\" or \"10s\""));
  options.timeout = *timeout;
  return options;
}

int run(const RunArguments& arguments) try {
  RealDisk disk;
  const StepOptions limits = step_options(arguments);
  golden::GraphFileOptions options = arguments.graph;
  options.master = value_or_throw(master_of(disk, arguments.master));
  const golden::GraphFile graph = open_graph(disk, options);
  std::vector<Tensor> values;
  for (long long step = 0; step < arguments.steps; ++step) {
    auto fetched = run_if_input_is_left(graph, limits);
    if (!fetched) {
      std::fprintf(stderr, "troupe: the input ended after %lld of %lld steps\n", step, arguments.steps);
      break;
    }
    values = std::move(*fetched);
  }
  if (arguments.out.empty()) {
    print(arguments.graph.fetches, values, arguments.json);
  } else {
    throw_if_failed(save(disk, arguments.out, arguments.graph.fetches, values));
    if (arguments.json) print_files({arguments.out}, true);
  }
  return 0;
} catch (const Error& error) {
  return failed(error.status(), arguments.json);
}

}  // namespace

void add_run_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<RunArguments>();
  auto* command =
      app.add_subcommand("run", "Run a TensorFlow graph.")
          ->footer(
              "Example: troupe run graph.pb --init init --feed x:0=x.npy --fetch y:0 --out y.npz\n"
              "         troupe run graph.pb --master a.lab:4242 --cluster cluster.toml --fetch y:0");
  add_graph_options(*command, arguments->graph);
  add_master_options(*command, arguments->master);
  command->add_option("--steps", arguments->steps, "number of steps")->check(CLI::PositiveNumber);
  command->add_option("--timeout", arguments->timeout,
                      "the longest time that a step may take, such as 10s; default: no limit");
  command->add_flag("--check-finite", arguments->graph.check_finite,
                    "fail at the first node that computes NaN or infinity from finite numbers, and name it");
  command->add_option("--out", arguments->out,
                      "file (.npz) for the tensors fetched in the last step; default: print them");
  command->add_flag("--json", arguments->json,
                    "print one line of JSON: {NAME: the tensor as text}, or with --out {\"files\": [...]}");
  command->callback([arguments, &result] { result = run(*arguments); });
}

}  // namespace troupe::commands

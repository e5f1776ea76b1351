#include "apps/commands/graph_commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/commands/command_support.h"
#include "apps/commands/commands.h"
#include "apps/data/formats/npy.h"
#include "apps/draw/draw_command.h"
#include "apps/golden/graph_file.h"
#include "apps/golden/step_costs.h"
#include "apps/golden/verify.h"
#include "apps/text/escaped.h"
#include "apps/text/json_line.h"
#include "graph/build/graph_text.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
constexpr size_t max_printed = 100;  // elements of a tensor

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// run

struct RunArguments {
  golden::GraphFileOptions graph;
  long long steps = 1;
  std::string out;
  bool json = false;
};

void print(const std::vector<std::string>& names, const std::vector<Tensor>& values, bool json) {
  JsonLine line;
  for (size_t i = 0; i < values.size(); ++i) line.add(names[i], tensor_text(values[i], max_printed));
  if (json) return static_cast<void>(std::printf("%s\n", line.text().c_str()));
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

/// What is asked for and not there, a file or a node, is a matter of usage.
golden::GraphFile open(Disk& disk, const golden::GraphFileOptions& options) try {
  return golden::GraphFile(disk, options);
} catch (const Error& error) {
  if (error.status().code() != Code::NotFound) throw;
  throw Error(invalid_argument(error.status().text()).at_node(error.status().op(), error.status().node()));
}

int run(const RunArguments& arguments) try {
  RealDisk disk;
  const golden::GraphFile graph = open(disk, arguments.graph);
  std::vector<Tensor> values;
  for (long long step = 0; step < arguments.steps; ++step) values = graph.run();
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

// verify

struct VerifyArguments {
  golden::VerifyOptions options;
  std::string local;
  bool json = false;
};

/// A line for each step that failed.
void print(const golden::Verdict& verdict, bool json) {
  const std::string name = escaped(verdict.name);
  const bool ok = verdict.failures.empty();
  std::vector<std::string> why;
  for (const auto& failure : verdict.failures) why.push_back(escaped(failure));
  if (!verdict.lacks.empty()) why.push_back(escaped(verdict.lacks));
  if (json) {
    std::printf("%s\n",
                Json{{"case", name}, {"ok", ok}, {"why", why}, {"seconds", verdict.seconds}}.dump().c_str());
    return;
  }
  if (why.empty()) std::printf("ok   %s\n", name.c_str());
  for (const auto& line : why) std::printf("%s %s: %s\n", ok ? "lack" : "FAIL", name.c_str(), line.c_str());
}

int verify(VerifyArguments& arguments) {
  if (!arguments.local.empty()) {
    auto tasks = parse_tasks(arguments.local);
    if (!tasks) return failed(tasks.status(), arguments.json);
    arguments.options.tasks = std::move(*tasks);
    arguments.options.program = std::filesystem::read_symlink("/proc/self/exe").string();
  }
  RealDisk disk;
  int passed = 0, lacking = 0, failures = 0;
  const Status status = golden::verify(disk, arguments.options, [&](const golden::Verdict& verdict) {
    ++(!verdict.failures.empty() ? failures : verdict.lacks.empty() ? passed : lacking);
    print(verdict, arguments.json);
  });
  if (!status.ok()) return failed_to_open(status, arguments.json);
  if (arguments.json)
    std::printf("%s\n", Json{{"passed", passed}, {"failed", failures}, {"lacking", lacking}}.dump().c_str());
  else
    std::printf("%d passed, %d failed%s\n", passed, failures,
                lacking == 0 ? "" : (", " + std::to_string(lacking) + " for ops that are not there").c_str());
  return failures == 0 ? 0 : 1;
}

// bench

struct BenchArguments {
  golden::GraphFileOptions graph;
  long long steps = 1000, warmup = 100;
  bool no_simplify = false, profile = false;
};

/// The most memory this process has had, in MiB.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

/// Microseconds of a step by device and op, which for each device add up to the step.
Json profile_of(const golden::GraphFile& graph, long long steps) {
  golden::StepCosts costs;
  for (long long i = 0; i < steps; ++i) {
    std::vector<DeviceProfile> profile;
    const auto begin = Clock::now();
    graph.run({.profile = &profile});
    costs.add(Clock::now() - begin, profile);
  }
  Json devices = Json::array();
  const double step = costs.step_microseconds();
  for (const auto& device : costs.devices()) {
    Json ops = Json::array();
    for (const auto& op : device.ops)
      ops.push_back(
          {{"op", op.name}, {"runs", op.runs}, {"us", op.microseconds}, {"share", op.microseconds / step}});
    devices.push_back({{"device", device.name},
                       {"ops", std::move(ops)},
                       {"between_nodes_us", device.between},
                       {"waiting_us", device.waiting},
                       {"outside_us", device.outside}});
  }
  return {{"step_us", step}, {"devices", std::move(devices)}};
}

int bench(BenchArguments& arguments) try {
  arguments.graph.simplify = !arguments.no_simplify;
  const auto begin = Clock::now();
  RealDisk disk;
  const golden::GraphFile graph = open(disk, arguments.graph);
  graph.run();
  const double first = seconds_since(begin);
  for (long long i = 0; i < arguments.warmup; ++i) graph.run();
  std::vector<double> times;
  const auto start = Clock::now();
  for (long long i = 0; i < arguments.steps; ++i) {
    const auto step = Clock::now();
    graph.run();
    times.push_back(1e6 * seconds_since(step));
  }
  const double total = seconds_since(start);
  std::ranges::sort(times);
  const auto quantile = [&](double q) {
    return times[std::min(times.size() - 1, static_cast<size_t>(q * static_cast<double>(times.size())))];
  };
  Json result{{"steps_per_second", static_cast<double>(arguments.steps) / total},
              {"median_us", quantile(0.5)},
              {"p90_us", quantile(0.9)},
              {"p99_us", quantile(0.99)},
              {"first_step_s", first},
              {"peak_memory_mib", peak_memory()}};
  if (arguments.profile) result["profile"] = profile_of(graph, arguments.steps);
  std::printf("%s\n", result.dump().c_str());
  return 0;
} catch (const Error& error) {
  return failed(error.status(), true);
}

// graph

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

void add_graph_options(CLI::App& command, golden::GraphFileOptions& graph) {
  command.add_option("graph", graph.file, "GraphDef of TensorFlow, or (*.meta) MetaGraphDef, binary or text")
      ->required();
  command.add_option("--init", graph.init, "node to be run once before");
  command.add_option("--checkpoint", graph.checkpoint,
                     "prefix of a checkpoint of TensorFlow's (V2), for the variables");
  command.add_option("--feed", graph.feeds, "NAME=FILE.npy");
  command.add_option("--fetch", graph.fetches, "tensor to be computed: NAME or NAME:OUTPUT");
  command.add_option("--target", graph.targets, "node to be run for its effect");
  command.add_option("--threads", graph.threads, "that compute; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  command.add_option("--devices", graph.devices, "the most devices that the graph may ask for; default: 64")
      ->check(CLI::Range(1, 1 << 16));
  add_memory(command, graph.memory);
}

}  // namespace

void add_graph_commands(CLI::App& app, int& result) {
  const auto to_run = std::make_shared<RunArguments>();
  auto* run_command =
      app.add_subcommand("run", "Run a graph of TensorFlow.")
          ->footer("Example: troupe run graph.pb --init init --feed x:0=x.npy --fetch y:0 --out y.npz");
  add_graph_options(*run_command, to_run->graph);
  run_command->add_option("--steps", to_run->steps, "how often")->check(CLI::PositiveNumber);
  run_command->add_option("--out", to_run->out,
                          "file for what is fetched in the last step (.npz); default: print it");
  run_command->add_flag(
      "--json", to_run->json,
      "what is fetched as one line of JSON: {NAME: the tensor as text}, or {\"files\": [...]}");
  run_command->callback([to_run, &result] { result = run(*to_run); });

  const auto to_verify = std::make_shared<VerifyArguments>();
  auto* verify_command =
      app.add_subcommand("verify", "Run golden cases and tell which TensorFlow would answer otherwise.")
          ->footer("Example: troupe verify tests/golden --local ps=1,worker=2");
  verify_command->add_option("path", to_verify->options.paths, "folders of cases, or with cases below them")
      ->required();
  verify_command->add_option("--local", to_verify->local,
                             "spread over processes of this machine: ps=1,worker=2");
  add_memory(*verify_command, to_verify->options.memory);
  verify_command->add_flag("--json", to_verify->json, "a line of JSON a case");
  verify_command->callback([to_verify, &result] { result = verify(*to_verify); });

  const auto to_bench = std::make_shared<BenchArguments>();
  auto* bench_command =
      app.add_subcommand("bench", "Time the steps of a graph of TensorFlow; prints JSON.")
          ->footer("Example: troupe bench graph.pb --init init --feed x:0=x.npy --target train --steps 1000");
  add_graph_options(*bench_command, to_bench->graph);
  bench_command->add_option("--steps", to_bench->steps, "that are timed")->check(CLI::PositiveNumber);
  bench_command->add_option("--warmup", to_bench->warmup, "steps before those")
      ->check(CLI::NonNegativeNumber);
  bench_command->add_flag("--no-simplify", to_bench->no_simplify,
                          "fold no constants, share no subexpressions");
  bench_command->add_flag("--profile", to_bench->profile,
                          "time by op, of as many steps more, adding up to the step");
  bench_command->add_flag("--json")->description("it prints JSON in any case");
  bench_command->callback([to_bench, &result] { result = bench(*to_bench); });

  const auto to_draw = std::make_shared<draw::DrawArguments>();
  const auto local = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  auto* graph_command =
      app.add_subcommand("graph",
                         "Draw a graph as it was built, and as it would be placed and cut: dot, and SVG "
                         "where graphviz is.")
          ->footer("Example: troupe graph examples/digits.toml --local ps=1,worker=2 --out digits");
  graph_command->add_option("file", to_draw->file, "run file (TOML), GraphDef or (*.meta) MetaGraphDef")
      ->required();
  graph_command->add_option("--feed", to_draw->feeds, "tensor that a step is fed");
  graph_command->add_option("--fetch", to_draw->fetches, "tensor that it computes");
  graph_command->add_option("--target", to_draw->targets, "node that it runs for its effect");
  graph_command->add_option("--local", *local, "tasks over which it is spread: ps=1,worker=2");
  graph_command->add_option("--out", to_draw->out, "how the files begin");
  graph_command->add_flag("--json", *json, "the files as one line of JSON");
  graph_command->callback([to_draw, local, json, &result] { result = draw_graph(*to_draw, *local, *json); });
}

}  // namespace troupe::commands

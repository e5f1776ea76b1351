// The subcommand bench: measures the time of the steps of a TensorFlow graph.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/graph_file_options.h"
#include "apps/observe/costs_json.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

struct BenchArguments {
  golden::GraphFileOptions graph;
  long long steps = 1000, warmup = 100;
  bool no_simplify = false, profile = false;
};

/// Returns the peak resident memory of this process, in MiB.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

/// Returns the mean microseconds of a step by device and op. The entries of each device add up to the time of the step.
Json profile_of(const golden::GraphFile& graph, long long steps) {
  observe::StepCosts costs;
  for (long long i = 0; i < steps; ++i) {
    std::vector<DeviceProfile> profile;
    const auto begin = SteadyClock::now();
    graph.run({.profile = &profile});
    costs.add(SteadyClock::now() - begin, profile);
  }
  Json devices = Json::array();
  for (const observe::DeviceCosts& device : costs.devices()) devices.push_back(observe::costs_json(device));
  return {{"step_us", costs.step_microseconds()}, {"devices", std::move(devices)}};
}

int bench(BenchArguments& arguments) try {
  arguments.graph.simplify = !arguments.no_simplify;
  const auto begin = SteadyClock::now();
  RealDisk disk;
  const golden::GraphFile graph = open_graph(disk, arguments.graph);
  graph.run();
  const double first = seconds_since(begin);
  for (long long i = 0; i < arguments.warmup; ++i) graph.run();
  std::vector<double> times;
  const auto start = SteadyClock::now();
  for (long long i = 0; i < arguments.steps; ++i) {
    const auto step = SteadyClock::now();
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
  print_json(result);
  return 0;
} catch (const Error& error) {
  return failed(error.status(), true);
}

}  // namespace

void add_bench_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<BenchArguments>();
  auto* command =
      app.add_subcommand("bench", "Measure the time of the steps of a TensorFlow graph; prints JSON.")
          ->footer("Example: troupe bench graph.pb --init init --feed x:0=x.npy --target train --steps 1000");
  add_graph_options(*command, arguments->graph);
  command->add_option("--steps", arguments->steps, "number of timed steps")->check(CLI::PositiveNumber);
  command->add_option("--warmup", arguments->warmup, "number of untimed steps before them")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--no-simplify", arguments->no_simplify,
                    "do not fold constants or share equal subexpressions");
  command->add_flag("--profile", arguments->profile,
                    "also measure the time of each op, in as many further steps");
  command->add_flag("--json")->description("accepted for uniformity: the output is always JSON");
  command->callback([arguments, &result] { result = bench(*arguments); });
}

}  // namespace troupe::commands

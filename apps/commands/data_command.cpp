// The subcommand data: shows the samples of a run file's data as its model gets them, with their statistics, or converts
// samples to files of another format.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/data_conversion.h"
#include "apps/commands/run_file.h"
#include "apps/data/statistics.h"
#include "apps/runs/run_file.h"
#include "apps/train/data/train_data.h"
#include "graph/build/graph_text.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

constexpr int64_t batch = 1024;
constexpr size_t most_shown = 100;  // elements of a sample

struct DataArguments {
  RunFile run;
  int64_t samples = 3;  ///< how many to show
  std::string to;       ///< the file to convert to; empty: the samples are shown
  bool force = false;   ///< replaces that file
};

Result<std::vector<data::ColumnStatistics>> statistics_of(const data::SampleSet& set) {
  data::Statistics statistics(set.columns());
  const auto batches = set.batches(batch, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const data::Dataset samples, batches->at(static_cast<uint64_t>(i)));
    statistics.add(samples);
  }
  return statistics.result();
}

nlohmann::ordered_json as_json(const data::ColumnStatistics& column) {
  nlohmann::ordered_json json = {{"name", column.name},          {"dtype", name(column.dtype)},
                                 {"shape", column.shape},        {"min", column.least},
                                 {"max", column.greatest},       {"mean", column.mean},
                                 {"deviation", column.deviation}};
  if (column.is_ragged) {
    json["shortest"] = column.shortest;
    json["longest"] = column.longest;
  }
  if (column.counts) {
    auto counts = nlohmann::ordered_json::object();
    for (const auto& [value, count] : *column.counts) counts[std::to_string(value)] = count;
    json["counts"] = std::move(counts);
  }
  return json;
}

void print(const data::ColumnStatistics& column) {
  const std::string type = std::string(name(column.dtype)) + text_of(column.shape);
  std::printf("%-12s %-16s min %-10.6g max %-10.6g mean %-10.6g deviation %.6g\n", column.name.c_str(),
              type.c_str(), column.least, column.greatest, column.mean, column.deviation);
  if (column.is_ragged)
    std::printf("  ragged: samples have %lld to %lld elements, %lld in all\n",
                static_cast<long long>(column.shortest), static_cast<long long>(column.longest),
                static_cast<long long>(column.elements));
  if (!column.counts) return;
  std::string line = "  samples of each value:";
  for (const auto& [value, count] : *column.counts)
    line += ' ' + std::to_string(value) + ": " + std::to_string(count) + ',';
  line.pop_back();
  std::printf("%s\n", cut_to_terminal(line).c_str());
}

/// Prints the first samples, a line for each column.
Status print_samples(const data::SampleSet& set, int64_t count) {
  const auto batches = set.batches(std::max<int64_t>(1, std::min(count, set.samples())), 0, false);
  if (count == 0) return {};
  TROUPE_ASSIGN(const data::Dataset samples, batches->at(0));
  for (int64_t i = 0; i < samples.samples(); ++i) {
    std::printf("sample %lld\n", static_cast<long long>(i));
    for (const data::Column& column : samples.columns()) {
      const std::string elements = tensor_text(column.values_of(i, i + 1), most_shown);
      std::printf("%s\n", cut_to_terminal("  " + column.name + " = " + elements).c_str());
    }
  }
  return {};
}

Status show(const data::TrainAndValid& data, const DataArguments& arguments) {
  const int64_t held_out = data.valid ? data.valid->samples() : 0;
  TROUPE_ASSIGN(const auto columns, statistics_of(*data.train));
  if (arguments.run.json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& column : columns) list.push_back(as_json(column));
    print_json({{"samples", data.train->samples()}, {"held_out", held_out}, {"columns", std::move(list)}});
    return {};
  }
  std::printf("%lld samples to train on, %lld held out\n", static_cast<long long>(data.train->samples()),
              static_cast<long long>(held_out));
  for (const auto& column : columns) print(column);
  return print_samples(*data.train, arguments.samples);
}

int run(const DataArguments& arguments) {
  if (!arguments.to.empty()) return convert({arguments.run, arguments.to, arguments.force});
  auto config = load(arguments.run);
  if (!config) return failed(config.status(), arguments.run.json);
  runs::leave_cache(*config);
  RealDisk disk;
  const auto data = train::load_data(disk, *config);
  if (!data) return failed_to_load(data.status(), arguments.run.json);
  const Status status = show(*data, arguments);
  return status.ok() ? 0 : failed_to_load(status, arguments.run.json);
}

}  // namespace

void add_data_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<DataArguments>();
  auto* command = add_command(
      app, "data", "Show the samples of a run file: columns, statistics, first samples. Or convert samples.",
      "troupe data examples/digits.toml; troupe data examples/digits.csv --to digits.tfrecord");
  add_run_file(*command, arguments->run);
  command->add_option("--samples", arguments->samples, "show this number of samples")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  auto* const to = command->add_option("--to", arguments->to,
                                       "write the samples to this file (.csv, .idx, .npy, .npz, .tfrecord); "
                                       "then `file` may also be a file of samples");
  command->add_flag("--force", arguments->force, "replace the file")->needs(to);
  command->callback([arguments, &result] { result = run(*arguments); });
}

}  // namespace troupe::commands

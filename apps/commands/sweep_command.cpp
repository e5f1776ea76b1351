// The subcommand sweep: trains the model of a run file with many values of some keys, and lists the results.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <utility>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/training.h"
#include "apps/runs/run_file.h"
#include "apps/text/score_text.h"
#include "apps/train/data/train_data.h"
#include "apps/train/sweep.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct SweepArguments {
  TrainArguments train;
  std::vector<std::string> keys;  ///< the values of --try
  long long random = 0;           ///< the number of trials to draw; 0: all combinations
  unsigned long long seed = 1;
  std::string metric = "valid/loss", mode;
  /// The number of runs of each trial, each with other samples held out; 0: one, as the run file says.
  long long folds = 0;
  train::SweepOptions options;
};

/// Returns the score of a trial and, with folds, how much their scores differ.
std::string score_text_of(const SweepArguments& arguments, const train::Trial& trial) {
  if (!trial.score) return "failed";
  return score_text(*trial.score) + (arguments.folds == 0 ? "" : " +- " + score_text(trial.deviation));
}

/// Returns the metrics that the runs of a sweep have, as its run file says.
std::vector<std::string> metrics_of(const SweepArguments& arguments, const config::RunConfig& config) {
  std::vector<std::string> names = {"train/loss"};
  const bool validates = arguments.folds > 0 || config.data.valid_split > 0 || !config.data.valid.empty();
  if (!validates) return names;
  names.emplace_back("valid/loss");
  for (const auto& metric : config.train.metrics) names.push_back("valid/" + metric.name);
  return names;
}

/// Returns a mistake in --metric; `known` has the metrics that there are.
Status unknown_metric(const std::string& metric, const std::vector<std::string>& known) {
  std::string names, advice;
  for (const std::string& name : known) {
    names += (names.empty() ? "" : ", ") + name;
    if (name == "valid/" + metric) advice = "; write --metric " + name;
  }
  if (metric.starts_with("valid/") && known.size() == 1)
    advice = " alone, because no samples are held out; data.valid or --folds does that";
  return invalid_argument("--metric is '" + metric + "', but the run has " + names + advice);
}

/// Fails with InvalidArgument if the runs will not have the metric that counts. A key that is tried may change which they have;
/// then the runs will tell.
Status check_metric(const SweepArguments& arguments, const config::RunConfig& config) {
  const auto known = metrics_of(arguments, config);
  const bool may_change = std::ranges::any_of(arguments.keys, [](const std::string& text) {
    return text.starts_with("train.metrics") || text.starts_with("data.valid");
  });
  if (may_change || std::ranges::find(known, arguments.metric) != known.end()) return {};
  return unknown_metric(arguments.metric, known);
}

/// Fails with InvalidArgument if a key is tried that the sweep sets itself.
Status check_own_keys(const SweepArguments& arguments) {
  for (const std::string& text : arguments.keys) {
    const std::string key = text.substr(0, text.find('='));
    if (key == "train.max_epochs")
      return invalid_argument(
          "--try train.max_epochs: all trials train for the same number of epochs, that of the run file; "
          "train.early_stop ends a trial that gets no better, --halving those that are behind others");
    if (arguments.folds > 0 && key.starts_with("data.valid"))
      return invalid_argument("--try " + key + ": --folds says which samples are held out");
  }
  return {};
}

/// Fails with InvalidArgument if a key that is tried does not exist, or does not take a value that is tried.
Status check_tried(const SweepArguments& arguments, const std::vector<std::string>& settings) {
  RunFile file = arguments.train.run;
  file.set.insert(file.set.end(), settings.begin(), settings.end());
  RealDisk disk;
  TROUPE_ASSIGN(const auto text, runs::read_run_file(disk, file.file));
  const auto parsed = runs::parse_run_file(text, file.set);
  const std::string mistake = parsed ? std::string() : parsed.status().text();
  constexpr std::string_view option = "--set ";
  for (const std::string& key : arguments.keys) {
    const size_t at = mistake.find(std::string(option) + key.substr(0, key.find('=')));
    if (at == std::string::npos) continue;
    const size_t begin = at + option.size();
    return invalid_argument("--try " + mistake.substr(begin, mistake.find('\n', begin) - begin));
  }
  return {};
}

/// Runs the trials of a sweep, one after the other, in the processes that it starts for the first one.
class Trials {
 public:
  explicit Trials(const SweepArguments& arguments) : arguments_(arguments) {
    options_.memory = arguments.train.memory;
    options_.stop = &stop_on_signals();
  }

  bool run(train::Trial& trial, int64_t epochs) {
    const Status status = try_run(trial, epochs);
    trial.failure = status;
    if (!status.ok()) trial.score.reset();
    if (!arguments_.train.quiet && !arguments_.train.run.json) print(trial);
    return stop_signal() == 0;
  }

 private:
  /// The score of a trial is the mean over its folds.
  Status try_run(train::Trial& trial, int64_t epochs) {
    const auto folds = static_cast<size_t>(arguments_.folds);
    trial.folders.resize(std::max<size_t>(1, folds));
    std::vector<double> scores;
    for (size_t fold = 0; fold < trial.folders.size(); ++fold) {
      std::vector<std::string> settings = trial.settings;
      settings.push_back("train.max_epochs=" + std::to_string(epochs));
      if (folds > 0) settings.push_back(held_out(fold));
      TROUPE_ASSIGN(scores.emplace_back(), run_once(settings, epochs, trial, trial.folders[fold]));
    }
    const auto count = static_cast<double>(scores.size());
    trial.score = std::accumulate(scores.begin(), scores.end(), 0.0) / count;
    double squares = 0;
    for (const double score : scores) squares += (score - *trial.score) * (score - *trial.score);
    trial.deviation = std::sqrt(squares / count);
    return {};
  }

  /// Returns the setting with which this part of the samples is held out.
  std::string held_out(size_t fold) const {
    std::ostringstream text;
    text.precision(17);
    text << "data.valid={split=" << 1.0 / static_cast<double>(arguments_.folds) << ",fold=" << fold << "}";
    return text.str();
  }

  /// Runs a trial with one part of the samples held out, in a new folder or that of its last run. Returns the score.
  Result<double> run_once(const std::vector<std::string>& settings, int64_t epochs, train::Trial& trial,
                          std::string& folder) {
    RunFile file = arguments_.train.run;
    file.set.insert(file.set.end(), settings.begin(), settings.end());
    TROUPE_ASSIGN(auto config, load(file));
    const bool goes_on =
        epochs < arguments_.options.max_epochs;  // from the last weights, not from the best ones
    if (goes_on && config.train.early_stop) config.train.early_stop->keep_best = false;
    RealDisk disk;
    TROUPE_ASSIGN(const auto data, train::load_data(disk, config));
    // The model differs from trial to trial, but what is said of it to the user once is enough.
    const bool quiet = std::exchange(warned_, true) || arguments_.train.quiet || arguments_.train.run.json;
    TROUPE_RETURN_IF_FAILED(warn_of_run(disk, config, data, quiet));
    options_.s3 = store_of(config);
    TROUPE_RETURN_IF_FAILED(use_nodes(config));
    options_.resume = folder;
    TROUPE_ASSIGN(const auto result, train::train(config, data, options_));
    trial.epochs = result.epochs;
    trial.seconds += result.seconds;
    folder = result.folder;
    TROUPE_ASSIGN(const double score, score_of(result));
    if (!std::isfinite(score))
      return Status(Code::OutOfRange,
                    result.reason.empty() ? arguments_.metric + " is not finite" : result.reason);
    return score;
  }

  Status use_nodes(config::RunConfig& config) {
    if (started_) {
      config.use_tasks(tasks_, options_.cluster.has_value());
      return {};
    }
    TROUPE_ASSIGN(nodes_, start_nodes(arguments_.train, {}, config, options_));
    tasks_ = config.cluster.tasks;
    started_ = true;
    return {};
  }

  Result<double> score_of(const train::TrainingResult& result) const {
    if (arguments_.metric == "train/loss") return result.epoch_loss;
    std::vector<std::string> known = {"train/loss"};
    for (const auto& [name, value] : result.evaluation) {
      if (name == arguments_.metric) return value;
      known.push_back(name);
    }
    return unknown_metric(arguments_.metric, known);
  }

  void print(const train::Trial& trial) const {
    std::string settings;
    for (const std::string& setting : trial.settings) settings += setting + "  ";
    if (trial.failure.ok())
      std::printf("%s%s %s  after %s in %.2f s\n", settings.c_str(), arguments_.metric.c_str(),
                  score_text_of(arguments_, trial).c_str(), count_text(trial.epochs, "epoch").c_str(),
                  trial.seconds);
    else
      std::printf("%sfailed: %s\n", settings.c_str(), trial.failure.text().c_str());
    std::fflush(stdout);
  }

  const SweepArguments& arguments_;
  train::TrainerOptions options_;
  std::unique_ptr<cluster::Processes> nodes_;
  std::map<std::string, int64_t> tasks_;
  bool started_ = false, warned_ = false;
};

Result<std::vector<train::TrialSettings>> plan(const SweepArguments& arguments) {
  std::vector<train::SweepKey> keys;
  for (const std::string& text : arguments.keys) {
    TROUPE_ASSIGN(keys.emplace_back(), train::parse_sweep_key(text));
  }
  TROUPE_RETURN_IF_FAILED(train::check_draws(keys, arguments.random));
  if (arguments.random > 0) return train::draw_trials(keys, arguments.random, arguments.seed);
  return train::grid(keys);
}

void print_table(const SweepArguments& arguments, const std::vector<train::Trial>& trials) {
  if (arguments.train.run.json) {
    auto list = nlohmann::ordered_json::array();
    for (const train::Trial& trial : trials) {
      nlohmann::ordered_json entry = {
          {"settings", trial.settings}, {"epochs", trial.epochs}, {"seconds", trial.seconds}};
      entry[arguments.metric] = trial.score ? nlohmann::ordered_json(*trial.score) : nullptr;
      if (arguments.folds > 0) entry["deviation"] = trial.deviation;
      entry["folders"] = trial.folders;
      if (!trial.failure.ok()) entry["failure"] = trial.failure.text();
      list.push_back(std::move(entry));
    }
    return print_json({{"trials", std::move(list)}});
  }
  const int width = arguments.folds > 0 ? 20 : 12;
  std::printf("\n%*s  epochs  seconds  values\n", width, arguments.metric.c_str());
  for (const train::Trial& trial : trials) {
    std::string settings;
    for (const std::string& setting : trial.settings) settings += "  " + setting;
    const std::string failure = ": " + trial.failure.text();  // its first line is followed by the place
    const std::string reason = trial.failure.ok() ? "" : failure.substr(0, failure.find('\n'));
    std::printf("%*s  %6llu  %7.2f%s  %s%s\n", width, score_text_of(arguments, trial).c_str(),
                static_cast<unsigned long long>(trial.epochs), trial.seconds, settings.c_str(),
                trial.folders.empty() ? "" : trial.folders.front().c_str(), reason.c_str());
  }
  const train::Trial& best = trials.front();
  if (best.score && trials.size() > 1 && arguments.folds == 0)
    std::printf("\nThe best trial is %s; without a number, the name of the runs stands for the newest one.\n",
                best.folders.front().c_str());
}

int sweep(SweepArguments& arguments) {
  const bool json = arguments.train.run.json;
  const auto config = load(arguments.train.run);
  if (!config) return failed(config.status(), json);
  if (!config->train.max_epochs)
    return failed(invalid_argument("a sweep needs train.max_epochs, by which its trials end"), json);
  arguments.options.max_epochs = *config->train.max_epochs;
  arguments.options.higher_is_better =
      arguments.mode.empty() ? !arguments.metric.ends_with("loss") : arguments.mode == "max";
  if (const Status mistake = check_metric(arguments, *config); !mistake.ok())
    return failed(mistake, json, bad_usage);
  if (const Status mistake = check_own_keys(arguments); !mistake.ok())
    return failed(mistake, json, bad_usage);
  const auto trials = plan(arguments);
  if (!trials) return failed(trials.status(), json, bad_usage);
  for (const auto& settings : *trials)
    if (const Status mistake = check_tried(arguments, settings); !mistake.ok())
      return failed(mistake, json, bad_usage);
  Trials runs(arguments);
  const auto results = train::sweep(*trials, arguments.options, [&](train::Trial& trial, int64_t epochs) {
    return runs.run(trial, epochs);
  });
  print_table(arguments, results);
  if (stop_signal() != 0) return exit_code_of(stop_signal());
  return results.front().score ? 0 : failed(results.front().failure, json);
}

}  // namespace

void add_sweep_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<SweepArguments>();
  auto* command = add_command(
      app, "sweep", "Train with many values of some keys, and list the results, the best one first.",
      "troupe sweep examples/digits.toml --try train.optimizer.lr=1e-3,1e-2 --try data.batch=32,64");
  add_run_file(*command, arguments->train.run);
  command
      ->add_option(
          "--try", arguments->keys,
          "a key and its values: KEY=A,B,C, or with --random a range KEY=LOW..HIGH or KEY=log:LOW..HIGH")
      ->required()
      ->take_all();
  command
      ->add_option("--random", arguments->random, "draw this number of trials, instead of all combinations")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", arguments->seed, "of the random draws");
  command->add_option("--metric", arguments->metric,
                      "what counts: train/loss, valid/loss or valid/ and a metric of the run");
  command
      ->add_option("--mode", arguments->mode,
                   "whether high or low values are good; by default low for losses only")
      ->check(CLI::IsMember({"min", "max"}));
  command
      ->add_option(
          "--halving", arguments->options.halving,
          "train in stages; one of so many trials goes on to the next one, for so many times the epochs")
      ->check(CLI::Range(2, 1000));
  command->add_option("--first-epochs", arguments->options.first_epochs, "of the first stage (1)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--folds", arguments->folds,
          "train each trial so many times, each time with another part of the samples held out, and take "
          "the mean")
      ->check(CLI::Range(2, 1000));
  command->add_flag("-q,--quiet", arguments->train.quiet, "print only the table");
  add_memory(*command, arguments->train.memory);
  add_transport(*command, arguments->train.transport);
  add_cluster_options(*command, arguments->train);
  command->callback([arguments, &result] { result = sweep(*arguments); });
}

}  // namespace troupe::commands

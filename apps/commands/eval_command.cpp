// The subcommand eval: scores of a trained model on labelled samples.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/commands/all_commands.h"
#include "apps/commands/class_report.h"
#include "apps/commands/command_support.h"
#include "apps/commands/model_disk.h"
#include "apps/commands/run_file.h"
#include "apps/commands/trained_run_options.h"
#include "apps/text/score_text.h"

namespace troupe::commands {
namespace {

struct EvalArguments {
  TrainedRunOptions run;
  runs::LabelledFiles what;
  bool classes = false;
};

int eval(EvalArguments arguments) try {
  ModelDisk models{arguments.run.run};
  Disk& disk = *models;
  const bool json = arguments.run.json;
  const auto run = open(disk, arguments.run);
  if (!run) return failed_to_open(run.status(), json);
  runs::LabelledFiles& what = arguments.what;
  if (!what.part.empty() && !what.files.empty())
    return failed(invalid_argument(
                      "--on names samples of the run file, but files are given, too; leave out one of them"),
                  json);
  if (what.part.empty() && run->config) what.part = runs::default_part(*run->config);
  const auto samples = runs::samples_to_evaluate(disk, *run, what);
  if (!samples) return failed_to_load(samples.status(), json);
  const auto scores = runs::evaluate(*run, **samples);
  const std::string on = what.files.empty() ? what.part : "given";
  std::optional<report::Comparison> comparison;
  if (arguments.classes) {
    auto compared = report::compare(*run, **samples, on);
    if (!compared) return failed(compared.status(), json);
    comparison = std::move(*compared);
  }
  if (json) {
    nlohmann::ordered_json result = {
        {"samples", (*samples)->samples()}, {"on", on}, {"checkpoint", run->model.source()}};
    for (const auto& [name, value] : scores) result["scores"][name] = value;
    if (comparison) throw_if_failed(add_classes(*comparison, result));
    print_json(result);
    return 0;
  }
  std::printf("%lld %s samples, %s:%s\n", static_cast<long long>((*samples)->samples()), on.c_str(),
              run->model.source().c_str(), score_texts(scores).c_str());
  if (comparison) std::printf("%s", value_or_throw(class_table(*comparison)).c_str());
  return 0;
} catch (const Error& error) {
  return failed(error.status(), arguments.run.json);
}

}  // namespace

void add_eval_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<EvalArguments>();
  auto* command =
      add_command(app, "eval", "Compute the loss and the metrics of a trained model on labelled samples.",
                  "troupe eval runs/digits/001 more_digits.csv");
  add_trained_run(*command, arguments->run);
  command->add_option(
      "files", arguments->what.files,
      "labelled files in the format of the run; default: data.test, else data.valid, else data.train");
  command->add_option("--labels", arguments->what.labels,
                      "label files, one for each file, for formats that have such");
  command
      ->add_option("--on", arguments->what.part, "the samples of the run file to use: train, valid or test")
      ->check(CLI::IsMember({"train", "valid", "test"}));
  command->add_flag(
      "--classes", arguments->classes,
      "also say how well each class is recognised (precision, recall, F1) and which are confused");
  command->callback([arguments, &result] { result = eval(*arguments); });
}

}  // namespace troupe::commands

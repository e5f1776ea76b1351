// The subcommand predict: what a trained model yields for the samples of files.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/model_disk.h"
#include "apps/commands/run_file.h"
#include "apps/commands/standard_input.h"
#include "apps/commands/trained_run_options.h"
#include "apps/data/convert/convert.h"
#include "apps/data/convert/csv_text.h"
#include "apps/runs/predicted_samples.h"

namespace troupe::commands {
namespace {

struct PredictArguments {
  TrainedRunOptions run;
  std::vector<std::string> files, outputs, keep;
  bool probabilities = false, force = false;
  std::string part;  ///< of the run file, instead of files
  std::string to;    ///< empty: the standard output, as csv
};

bool is_probabilities(const std::string& output) { return output.ends_with("probabilities"); }

/// Returns the names of the outputs to write: those that the user names, or all, without probabilities unless they are wanted.
std::vector<std::string> wanted_outputs(const PredictArguments& arguments, const Model& model) {
  if (!arguments.outputs.empty()) return arguments.outputs;
  const auto& outputs = model.signature(Model::predict).outputs;
  const bool all =
      arguments.probabilities || std::ranges::all_of(outputs, is_probabilities, &ModelTensor::name);
  std::vector<std::string> names;
  for (const ModelTensor& output : outputs)
    if (all || !is_probabilities(output.name)) names.push_back(output.name);
  return names;
}

/// Returns the first line of csv: the names of the columns, with a number or the name of the class for each element.
std::string header_of(const data::Dataset& columns, const std::vector<std::string>& classes) {
  std::string line;
  (void)data::each_csv_column(columns, [&](const data::Column& column) {
    int64_t elements = 1;
    for (const int64_t dim : column.values.shape().dims().subspan(1)) elements *= dim;
    const bool is_scalar = column.values.shape().rank() == 1;
    const bool has_names = is_probabilities(column.name) && static_cast<size_t>(elements) == classes.size();
    for (int64_t i = 0; i < elements; ++i) {
      std::string name = column.name;
      if (!is_scalar) name += '_' + (has_names ? classes[static_cast<size_t>(i)] : std::to_string(i));
      line += (line.empty() ? "" : ",") + data::csv_field(name);
    }
    return Status();
  });
  return line;
}

Status print_csv(data::SampleStream& samples, const std::string& header) {
  std::printf("%s\n", header.c_str());
  for (;;) {
    TROUPE_ASSIGN(const data::Dataset batch, samples.next());
    if (batch.samples() == 0) return {};
    std::string text;
    for (int64_t row = 0; row < batch.samples(); ++row)
      TROUPE_RETURN_IF_FAILED(data::append_csv_row(batch, row, text));
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

/// Fails with InvalidArgument unless the options ask for either files or samples of the run file.
Status check_what(const PredictArguments& arguments) {
  if (arguments.files.empty() && arguments.part.empty())
    return invalid_argument("there is nothing to predict: name files, or write --on train, valid or test");
  if (arguments.part.empty()) return {};
  if (!arguments.files.empty())
    return invalid_argument(
        "--on names samples of the run file, but files are given, too; leave out one of them");
  if (!arguments.keep.empty())
    return invalid_argument("--keep takes columns of files that are given; with --on the labels are kept");
  return {};
}

int predict(const PredictArguments& arguments) try {
  ModelDisk models{arguments.run.run};
  StandardInput disk(*models);
  const bool json = arguments.run.json;
  if (const Status status = check_what(arguments); !status.ok()) return failed(status, json, bad_usage);
  if (!arguments.force && !arguments.to.empty())
    if (const Status status = check_free(disk, arguments.to); !status.ok())
      return failed(status, json, bad_usage);
  if (const Status status = check_reads_no(arguments.to, arguments.files); !status.ok())
    return failed(status, json, bad_usage);
  const auto run = open(disk, arguments.run);
  if (!run) return failed_to_open(run.status(), json);
  const auto files = disk.among(arguments.files);
  if (!files) return failed_to_load(files.status(), json);
  auto input =
      runs::samples_of(disk, *run, {.files = *files, .part = arguments.part, .keep = arguments.keep});
  if (!input) return failed_to_load(input.status(), json);
  const auto samples =
      runs::PredictedSamples::make(std::move(*input), run->model, wanted_outputs(arguments, run->model));
  if (!samples) return failed(samples.status(), json);
  const std::string header = header_of((*samples)->columns(), run->classes());
  if (arguments.to.empty()) {
    const Status status = print_csv(**samples, header);
    return status.ok() ? 0 : failed(status, json);
  }
  const auto& stop = stop_on_signals();
  const Status status = data::convert(
      disk, **samples, arguments.to, [&](int64_t, int64_t) { return !stop.load(); }, header);
  if (!status.ok() && stop_signal() != 0) return failed(status, json, exit_code_of(stop_signal()));
  if (!status.ok()) return failed(status, json);
  print_files({arguments.to}, json);
  return 0;
} catch (const Error& error) {
  return failed(error.status(), arguments.run.json);
}

}  // namespace

void add_predict_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<PredictArguments>();
  auto* command = add_command(app, "predict", "Compute what a trained model yields for the samples of files.",
                              "troupe predict runs/digits/001 new.csv -o classes.csv");
  add_trained_run(*command, arguments->run);
  command->add_option("files", arguments->files,
                      "files in the format of the run, with or without labels, or the inputs of the model as "
                      "one .npz, .jsonl or .npy file; -: the standard input, in the format of the run");
  command
      ->add_option("--on", arguments->part,
                   "instead of files: the samples of the run file to use, whose labels are written, too")
      ->check(CLI::IsMember({"train", "valid", "test"}));
  command->add_option("-o,--out", arguments->to,
                      "file to write: .csv, .jsonl, .npz, .tfrecord; default: the standard output, as csv");
  command->add_flag("--probabilities", arguments->probabilities,
                    "write the probabilities of all classes, too");
  command->add_option("--outputs", arguments->outputs, "names of the outputs to write")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--keep", arguments->keep,
                   "columns of the files to write in front of the outputs, such as the number of a customer; "
                   "of a series those of the last row of each stretch; of images: file")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--force", arguments->force, "replace the file if it is there");
  command->callback([arguments, &result] { result = predict(*arguments); });
}

}  // namespace troupe::commands

// The subcommand export: a trained model in a form that other programs read.
#include <CLI/CLI.hpp>

#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/model_disk.h"
#include "apps/runs/export.h"
#include "apps/runs/trained_run.h"
#include "kernels/core/kernel.h"

namespace troupe::commands {
namespace {

struct ExportArguments {
  std::string run, to;
  bool force = false, json = false;
};

/// Fails with InvalidArgument if the name of what is to be written has the ending of a form that is not written.
Status check_ending(const std::string& to) {
  const std::string ending = ending_of(to);
  if (ending.empty() || ending == ".safetensors" || ending == ".onnx") return {};
  return invalid_argument(to + ": export writes no " + ending +
                          " files; allowed: NAME.onnx, NAME.safetensors, or a folder in TensorFlow's "
                          "SavedModel format, whose name has no ending or a '/' at its end");
}

/// Fails with AlreadyExists if there is something that must not be replaced.
Status check_new(Disk& disk, const std::string& to, bool force) {
  const auto present = disk.info(to);
  if (present && present->is_folder)
    return already_exists(to + " is a folder that exists; export to another one, or remove it");
  return force ? Status() : check_free(disk, to);
}

int export_model(const ExportArguments& arguments) {
  if (const Status mistake = check_ending(arguments.to); !mistake.ok())
    return failed(mistake, arguments.json, bad_usage);
  ModelDisk models{arguments.run, arguments.to};
  Disk& disk = *models;
  const auto library = make_op_library();
  if (!library->status.ok()) return failed(library->status, arguments.json);
  const auto path = runs::find_model(disk, arguments.run);
  if (!path) return failed_to_open(path.status(), arguments.json);
  const auto model = runs::read_trained_model(disk, *path, library->ops);
  if (!model) return failed_to_open(model.status(), arguments.json);
  if (const Status status = check_new(disk, arguments.to, arguments.force); !status.ok())
    return failed(status, arguments.json, bad_usage);
  const auto write = [&] {
    if (arguments.to.ends_with(".safetensors")) return runs::export_safetensors(disk, *model, arguments.to);
    if (arguments.to.ends_with(".onnx")) return runs::export_onnx(disk, *model, *library, arguments.to);
    return runs::export_saved_model(disk, *model, arguments.to);
  };
  Status status = make_folders(disk, folder_of(arguments.to));
  if (status.ok()) status = write();
  if (!status.ok()) return failed(status, arguments.json);
  print_files({arguments.to}, arguments.json);
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<ExportArguments>();
  auto* command = add_command(app, "export", "Write a trained model in a form that other programs read.",
                              "troupe export runs/digits/001 exported/digits/1");
  command
      ->add_option(
          "run", arguments->run,
          "folder of a run, of a checkpoint of it, of runs, whose newest is taken, or of a saved model")
      ->required();
  command
      ->add_option("to", arguments->to,
                   "what to write: NAME.onnx, NAME.safetensors (the weights), otherwise a folder in "
                   "TensorFlow's SavedModel format; also s3://BUCKET/KEY")
      ->required();
  command->add_flag("--force", arguments->force, "replace the file if it is there");
  command->add_flag("--json", arguments->json, "print the result or the error as one line of JSON");
  command->callback([arguments, &result] { result = export_model(*arguments); });
}

}  // namespace troupe::commands

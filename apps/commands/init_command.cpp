// The subcommand init: writes a first run file for a table, or for a folder of images.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/run_file.h"
#include "apps/config/document.h"
#include "apps/data/convert/convert.h"
#include "apps/data/file_content.h"
#include "apps/data/input_file.h"
#include "apps/runs/first_folder_files.h"
#include "apps/runs/first_run_file.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

namespace fs = std::filesystem;

struct InitArguments {
  std::string from, to;
  std::vector<std::string> labels;
  int64_t window = 0;
  std::string series;
  bool force = false, json = false;
};

/// Fails with DataLoss if the first bytes of a file are those of another form than text. A file that cannot be read is left to who
/// reads all of it.
Status check_is_text(Disk& disk, const std::string& path) {
  constexpr uint64_t first_bytes = 16;
  const auto file = data::InputFile::open(disk, path, std::nullopt);
  if (!file) return {};
  const auto bytes = (*file)->text(0, first_bytes);
  const std::string_view content = bytes ? data::content_of(*bytes) : std::string_view();
  if (content.empty()) return {};
  return data_loss(path +
                   ": init reads text with columns (.csv, .tsv, .jsonl, also compressed), but this file is " +
                   std::string(content));
}

/// Returns whether a folder of a class has sounds.
bool has_sounds(Disk& disk, const std::string& folder) {
  const auto classes = data::class_folders(disk, std::span(&folder, 1));
  return classes && std::ranges::any_of(*classes, [&](const std::string& name) {
           const std::string path = std::string(folder).append("/").append(name);
           return data::files_without_labels(disk, *data::file_kind("sounds"), std::span(&path, 1)).ok();
         });
}

/// Returns the text of a run file `to` for a table, or for a folder of images or sounds. `name` is that of the run.
Result<std::string> first_text(Disk& disk, const InitArguments& arguments, const std::string& name,
                               const std::string& to) {
  const auto info = disk.info(arguments.from);
  if (!info)
    return not_found("there is no file or folder '" + arguments.from + "'" +
                     config::nearest_beside(disk, arguments.from));
  const fs::path folder = fs::absolute(to).parent_path();
  const std::string path =
      fs::absolute(arguments.from).lexically_relative(folder).lexically_normal().string();
  if (!info->is_folder) {
    TROUPE_RETURN_IF_FAILED(check_is_text(disk, arguments.from));
    TROUPE_ASSIGN(const auto survey, data::survey_table(disk, arguments.from));
    return runs::first_run_file(survey,
                                {path, name, to, arguments.labels, arguments.window, arguments.series});
  }
  if (!arguments.labels.empty())
    return invalid_argument("--label names a column of a table, but " + arguments.from +
                            " is a folder, where the names of the folders in it are the labels");
  if (arguments.window > 0)
    return invalid_argument("--window is for the rows of a table, but " + arguments.from + " is a folder");
  if (has_sounds(disk, arguments.from)) {
    TROUPE_ASSIGN(const auto survey, data::survey_sounds(disk, arguments.from));
    return runs::first_sounds_file(survey, {path, name, to});
  }
  TROUPE_ASSIGN(const auto survey, data::survey_images(disk, arguments.from));
  return runs::first_images_file(survey, {path, name, to});
}

Result<std::string> write_first(Disk& disk, InitArguments arguments) {
  while (arguments.from.size() > 1 && arguments.from.ends_with('/')) arguments.from.pop_back();
  const std::string name = fs::absolute(arguments.from).lexically_normal().stem().string();
  const std::string to = arguments.to.empty() ? name + ".toml" : arguments.to;
  if (!arguments.force) TROUPE_RETURN_IF_FAILED(check_free(disk, to));
  TROUPE_ASSIGN(const std::string text, first_text(disk, arguments, name, to));
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, to));
  TROUPE_RETURN_IF_FAILED(file.write(text));
  TROUPE_RETURN_IF_FAILED(file.commit());
  return to;
}

int init(const InitArguments& arguments) {
  RealDisk disk;
  const auto written = write_first(disk, arguments);
  if (written.status().code() == Code::AlreadyExists)
    return failed(written.status(), arguments.json, bad_usage);
  if (!written) return failed_to_load(written.status(), arguments.json);
  print_files({*written}, arguments.json);
  return 0;
}

}  // namespace

void add_init_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<InitArguments>();
  auto* command = add_command(
      app, "init", "Write a first run file for a table, for images or for sounds, from what they look like.",
      "troupe init people.csv --label income && troupe train people.toml");
  command
      ->add_option("data", arguments->from,
                   "text with columns (.csv, .tsv, .jsonl, also compressed), or a folder that has a folder "
                   "of images or "
                   "sounds for each class")
      ->required();
  command
      ->add_option(
          "--label", arguments->labels,
          "the column to predict; given more than once: several columns of numbers; default: the last one")
      ->allow_extra_args(false);
  auto* const window =
      command
          ->add_option(
              "--window", arguments->window,
              "for a series, whose rows are in order: how many of them the next one is predicted from")
          ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  command
      ->add_option("--series", arguments->series,
                   "where a table has several series: the column that has the same value in all rows of one")
      ->needs(window);
  command->add_option("-o,--out", arguments->to, "file to write; default: DATA.toml in the current folder");
  command->add_flag("--force", arguments->force, "replace the file if it is there");
  command->add_flag("--json", arguments->json, "print the result or the error as one line of JSON");
  command->callback([arguments, &result] { result = init(*arguments); });
}

}  // namespace troupe::commands

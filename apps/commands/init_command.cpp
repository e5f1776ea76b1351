// The subcommand init: writes a first run file for a table.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/run_file.h"
#include "apps/config/document.h"
#include "apps/data/convert/convert.h"
#include "apps/data/file_content.h"
#include "apps/data/input_file.h"
#include "apps/runs/first_run_file.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

namespace fs = std::filesystem;

struct InitArguments {
  std::string table, label, to;
  bool force = false, json = false;
};

/// Fails with DataLoss if the first bytes of a file are those of another form than text. A file that cannot be read is left to who
/// reads all of it.
Status check_is_text(Disk& disk, const std::string& path) {
  if (data::format_of_name(path) == "jsonl")
    return invalid_argument(path +
                            ": init reads text with columns (.csv, .tsv, also compressed), no .jsonl; a run "
                            "file for such a file says header = true and names its columns in data.columns");
  constexpr uint64_t first_bytes = 16;
  const auto file = data::InputFile::open(disk, path, std::nullopt);
  if (!file) return {};
  const auto bytes = (*file)->text(0, first_bytes);
  const std::string_view content = bytes ? data::content_of(*bytes) : std::string_view();
  if (content.empty()) return {};
  return data_loss(path + ": init reads text with columns (.csv, .tsv, also compressed), but this file is " +
                   std::string(content));
}

Result<std::string> write_first(Disk& disk, const InitArguments& arguments) {
  const fs::path table = arguments.table;
  const std::string to = arguments.to.empty() ? table.stem().string() + ".toml" : arguments.to;
  if (!arguments.force) TROUPE_RETURN_IF_FAILED(check_free(disk, to));
  TROUPE_RETURN_IF_FAILED(check_is_text(disk, arguments.table));
  const auto info = disk.info(arguments.table);
  if (info && info->is_folder)
    return invalid_argument(
        arguments.table +
        " is a folder, and init reads a table; for images in a folder for each class write "
        "format = \"images\" and train = [\"" +
        arguments.table + "\"] in [data], as examples/shapes.toml does");
  if (!info)
    return not_found("there is no file '" + arguments.table + "'" +
                     config::nearest_beside(disk, arguments.table));
  TROUPE_ASSIGN(const auto survey, data::survey_table(disk, arguments.table));
  const fs::path folder = fs::absolute(to).parent_path();
  const std::string path = fs::absolute(table).lexically_relative(folder).string();
  TROUPE_ASSIGN(const std::string text,
                runs::first_run_file(survey, {path, table.stem().string(), to, arguments.label}));
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
  auto* command =
      add_command(app, "init", "Write a first run file for a table, from what its columns look like.",
                  "troupe init people.csv --label income && troupe train people.toml");
  command->add_option("table", arguments->table, "text with columns (.csv, .tsv, also compressed)")
      ->required();
  command->add_option("--label", arguments->label, "the column to predict; default: the last one");
  command->add_option("-o,--out", arguments->to, "file to write; default: TABLE.toml in the current folder");
  command->add_flag("--force", arguments->force, "replace the file if it is there");
  command->add_flag("--json", arguments->json, "print the result or the error as one line of JSON");
  command->callback([arguments, &result] { result = init(*arguments); });
}

}  // namespace troupe::commands

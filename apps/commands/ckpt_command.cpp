// The subcommand ckpt: lists, shows, compares, converts and averages checkpoints.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/checkpoints/value_summary.h"
#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/model_disk.h"
#include "apps/text/escaped.h"

namespace troupe::commands {
namespace {

using Json = nlohmann::ordered_json;

struct CkptArguments {
  std::string action, out;
  std::vector<std::string> paths;
  bool json = false;
};

/// Returns when a file was written, in UTC.
std::string time_of(const std::string& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (error) return "-";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::file_clock::to_sys(time).time_since_epoch());
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

Status list(Disk& disk, const CkptArguments& arguments) {
  TROUPE_ASSIGN(const auto infos, checkpoints::list_checkpoints(disk, arguments.paths[0]));
  Json all = Json::array();
  for (const auto& info : infos) {
    const std::string time = time_of(info.path + "/manifest.json");
    all.push_back({{"name", info.name},
                   {"step", info.round},
                   {"bytes", info.bytes},
                   {"tensors", info.tensors},
                   {"time", time}});
    if (!info.damage.empty()) all.back()["damage"] = info.damage;
    if (!arguments.json)
      std::printf("%-24s step %-8llu %6zu tensors %12llu bytes  %s%s\n", escaped(info.name).c_str(),
                  static_cast<unsigned long long>(info.round), info.tensors,
                  static_cast<unsigned long long>(info.bytes), time.c_str(),
                  info.damage.empty() ? "" : ("  damaged: " + escaped(info.damage)).c_str());
  }
  if (arguments.json) print_json({{"checkpoints", all}});
  return {};
}

Status show(Disk& disk, const CkptArguments& arguments) {
  TROUPE_ASSIGN(const auto stored, checkpoints::read_values(disk, arguments.paths[0]));
  Json all = Json::array();
  for (const auto& [name, value] : stored.values) {
    const auto summary = checkpoints::summarize(value);
    Json entry = {{"name", name},
                  {"dtype", troupe::name(value.dtype())},
                  {"shape", Json::array()},
                  {"bytes", value.bytes()}};
    for (const int64_t dim : value.shape().dims()) entry["shape"].push_back(dim);
    std::string numbers;
    if (summary.has_numbers) {
      entry.update({{"min", summary.least},
                    {"max", summary.greatest},
                    {"mean", summary.mean},
                    {"not_finite", summary.not_finite}});
      numbers =
          fmt::format("min {:.4g}  max {:.4g}  mean {:.4g}{}", summary.least, summary.greatest, summary.mean,
                      summary.not_finite == 0 ? "" : fmt::format("  {} not finite", summary.not_finite));
    }
    all.push_back(std::move(entry));
    if (!arguments.json)
      std::printf("%-32s %-20s %s\n", escaped(name).c_str(), value.signature().c_str(), numbers.c_str());
  }
  if (arguments.json) print_json({{"source", stored.source}, {"step", stored.round}, {"variables", all}});
  return {};
}

/// Returns whether both are equal.
Result<bool> compare(Disk& disk, const CkptArguments& arguments) {
  TROUPE_ASSIGN(const auto a, checkpoints::read_values(disk, arguments.paths[0]));
  TROUPE_ASSIGN(const auto b, checkpoints::read_values(disk, arguments.paths[1]));
  const auto found = checkpoints::differences(a, b);
  Json all = Json::array();
  for (const auto& one : found) {
    all.push_back({{"name", one.name}, {"what", one.what}, {"greatest", one.greatest}});
    if (!arguments.json)
      std::printf("%-32s %s%s\n", escaped(one.name).c_str(), one.what.c_str(),
                  one.greatest > 0 ? fmt::format("  differ by at most {:.4g}", one.greatest).c_str() : "");
  }
  if (arguments.json)
    print_json({{"equal", found.empty()}, {"differences", all}});
  else if (found.empty())
    std::printf("equal\n");
  return found.empty();
}

Status write(Disk& disk, const CkptArguments& arguments) {
  std::vector<checkpoints::StoredValues> all;
  for (const std::string& path : arguments.paths) {
    if (arguments.action == "average" && checkpoints::is_remainder(disk, path)) continue;
    TROUPE_ASSIGN(auto stored, checkpoints::read_values(disk, path));
    all.push_back(std::move(stored));
  }
  if (all.empty())
    return not_found("none of the folders is a checkpoint: they are what is left of deleted ones");
  TROUPE_ASSIGN(const auto result, checkpoints::average(all));
  TROUPE_RETURN_IF_FAILED(checkpoints::write_values(disk, result, arguments.out));
  print_files({arguments.out}, arguments.json);
  return {};
}

/// Returns a mistake if the action takes another number of paths, or needs a file to write.
Status check_checkpoint(const CkptArguments& arguments) {
  const bool writes = arguments.action == "convert" || arguments.action == "average";
  const size_t wanted = arguments.action == "diff" ? 2 : 1;
  const size_t given = arguments.paths.size();
  if (arguments.action == "average" ? given < 2 : given != wanted)
    return invalid_argument(fmt::format("ckpt {} takes {}, not {}", arguments.action,
                                        arguments.action == "average" ? "two or more checkpoints"
                                        : wanted == 2                 ? "two checkpoints"
                                                                      : "one path",
                                        given));
  if (writes && arguments.out.empty())
    return invalid_argument("ckpt " + arguments.action + " needs -o, what to write");
  return {};
}

int ckpt(const CkptArguments& arguments) try {
  if (const Status mistake = check_checkpoint(arguments); !mistake.ok())
    return failed(mistake, arguments.json, bad_usage);
  std::vector<std::string> paths = arguments.paths;
  paths.push_back(arguments.out);
  ModelDisk models(paths);
  Disk& disk = *models;
  if (arguments.action == "diff") {
    const auto equal = compare(disk, arguments);
    return !equal ? failed_to_open(equal.status(), arguments.json) : *equal ? 0 : 1;
  }
  const Status status = arguments.action == "ls"     ? list(disk, arguments)
                        : arguments.action == "show" ? show(disk, arguments)
                                                     : write(disk, arguments);
  return status.ok() ? 0 : failed_to_open(status, arguments.json);
} catch (const Error& error) {
  return failed(error.status(), arguments.json);
}

}  // namespace

void add_ckpt_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<CkptArguments>();
  auto* command = add_command(app, "ckpt", "List, show, compare, convert or average checkpoints.",
                              "troupe ckpt average runs/digits/001/checkpoints/* -o mean.safetensors");
  command->add_option("action", arguments->action, "what to do")
      ->required()
      ->check(CLI::IsMember({"ls", "show", "diff", "convert", "average"}));
  command
      ->add_option("paths", arguments->paths,
                   "checkpoints: folders of Troupe's, of runs or of saved models, .safetensors files, "
                   "prefixes of TensorFlow's")
      ->required();
  command->add_option("-o,--out", arguments->out,
                      "what convert and average write: a .safetensors file, a FOLDER/ for a checkpoint of "
                      "Troupe, or the prefix of one of TensorFlow");
  command->add_flag("--json", arguments->json, "print the result or the error as one line of JSON");
  command->callback([arguments, &result] { result = ckpt(*arguments); });
}

}  // namespace troupe::commands

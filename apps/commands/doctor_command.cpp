// The subcommand doctor: whether this machine has what the program needs.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/doctor/findings.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct DoctorArguments {
  std::string cluster, directory = "runs";
  bool json = false;
};

int doctor(const DoctorArguments& arguments) {
  auto findings = doctor::check_machine(arguments.directory);
  if (!arguments.cluster.empty()) {
    RealDisk disk;
    const auto more = doctor::check_cluster(disk, arguments.cluster);
    findings.insert(findings.end(), more.begin(), more.end());
  }
  static constexpr std::array levels = {"ok", "warn", "fail"};
  const bool fails =
      std::ranges::find(findings, doctor::Level::Fail, &doctor::Finding::level) != findings.end();
  auto list = nlohmann::ordered_json::array();
  for (const doctor::Finding& one : findings) {
    const char* const level = levels[static_cast<size_t>(one.level)];
    list.push_back({{"level", level}, {"what", one.what}, {"state", one.state}});
    if (!one.remedy.empty()) list.back()["remedy"] = one.remedy;
    if (!arguments.json)
      std::printf("%-4s  %s: %s%s%s\n", level, one.what.c_str(), one.state.c_str(),
                  one.remedy.empty() ? "" : "\n      ", one.remedy.c_str());
  }
  if (arguments.json) print_json({{"ok", !fails}, {"findings", list}});
  return fails ? 1 : 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<DoctorArguments>();
  auto* command = add_command(app, "doctor", "Check whether this machine has what the program needs.",
                              "troupe doctor --cluster cluster.toml");
  command->add_option(
      "--cluster", arguments->cluster,
      "also check a cluster file, its certificates, and the ports of its tasks on this machine");
  command->add_option("--directory", arguments->directory,
                      "folder for the results of runs, whose free space is checked; default: runs");
  command->add_flag("--json", arguments->json, "print one line of JSON");
  command->callback([arguments, &result] { result = doctor(*arguments); });
}

}  // namespace troupe::commands

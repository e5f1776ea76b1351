// The subcommand ctl: tells a run that trains to pause, to go on, to save a checkpoint, or to end.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cluster/cluster_status.h"
#include "apps/cluster/processes.h"
#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/config/cluster_file.h"
#include "apps/observe/watched_run.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

using Json = nlohmann::ordered_json;

struct CtlArguments {
  std::vector<std::string> words;  ///< the run, unless there is a cluster, and the action
  std::string cluster;
  bool json = false;

  const std::string& action() const { return words.back(); }
};

const char* what_is_done(const std::string& action) {
  if (action == "pause") return "pauses after the present round";
  if (action == "resume") return "goes on";
  if (action == "stop") return "ends, with a checkpoint if train.checkpoint.on_signal says so";
  return "has saved a checkpoint";
}

Result<Json> control_run(const CtlArguments& arguments) {
  TROUPE_ASSIGN(const std::string folder, observe::find_run(arguments.words.front()));
  return observe::ask_run(folder, "POST", "/ctl/" + arguments.action());
}

Result<Json> control_cluster(const CtlArguments& arguments) {
  RealDisk disk;
  TROUPE_ASSIGN(const auto spec, config::load_cluster(disk, arguments.cluster, cluster::owner_job, 0));
  constexpr auto timeout = std::chrono::seconds(5);
  TROUPE_ASSIGN(const std::string saved, cluster::control_cluster(spec, arguments.action(), timeout));
  Json json = {{"done", arguments.action()}};
  if (!saved.empty()) json["checkpoint"] = saved;
  return json;
}

int control(const CtlArguments& arguments) {
  const std::string& action = arguments.action();
  if (action == "drain" || action == "add")
    return failed(unimplemented("ctl " + action + " is not available yet"), arguments.json);
  const auto done = arguments.cluster.empty() ? control_run(arguments) : control_cluster(arguments);
  if (!done) return failed(done.status(), arguments.json);
  if (arguments.json) {
    print_json(*done);
    return 0;
  }
  const std::string saved = done->value("checkpoint", "");
  std::printf("the run %s%s%s\n", what_is_done(action), saved.empty() ? "" : ": ", saved.c_str());
  return 0;
}

/// Throws unless the words are those of the usage.
void check_words(const CtlArguments& arguments) {
  if (arguments.words.size() != (arguments.cluster.empty() ? 2u : 1u))
    throw CLI::ValidationError("ctl", "expected RUN ACTION, or --cluster FILE ACTION");
  const CLI::IsMember known({"pause", "resume", "checkpoint", "stop", "drain", "add"});
  std::string action = arguments.action();
  if (const std::string why = known(action); !why.empty()) throw CLI::ValidationError("action", why);
}

}  // namespace

void add_ctl_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<CtlArguments>();
  auto* command = add_command(app, "ctl", "Tell a run that trains to pause, resume, save or stop.",
                              "troupe ctl runs/digits checkpoint\n"
                              "         troupe ctl --cluster cluster.toml pause");
  command
      ->add_option(
          "words", arguments->words,
          "the folder of a run, or of all runs of a name (the newest one), unless --cluster is given; "
          "then the action: pause (between two rounds), resume, checkpoint (save now), stop (as "
          "SIGTERM does); drain and add are not available yet")
      ->required()
      ->expected(1, 2);
  command->add_option("--cluster", arguments->cluster,
                      "cluster file (TOML): the run that trains on the workers of the cluster");
  command->add_flag("--json", arguments->json, "print one line of JSON");
  command->callback([arguments, &result] {
    check_words(*arguments);
    result = control(*arguments);
  });
}

}  // namespace troupe::commands

// The subcommand ctl: tells a run that trains to pause, to go on, to save a checkpoint, to end, to do without a task, or for how
// many shards not to wait.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cluster/cluster_status.h"
#include "apps/cluster/processes.h"
#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/usage_mistakes.h"
#include "apps/config/cluster_file.h"
#include "apps/observe/watched_run.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

using Json = nlohmann::ordered_json;

struct CtlArguments {
  /// The run, unless there is a cluster; the action, and its argument if it takes one.
  std::vector<std::string> words;
  std::string cluster;
  bool json = false;

  size_t place() const { return cluster.empty() ? 1 : 0; }
  const std::string& action() const { return words.at(place()); }
  std::string argument() const { return words.size() > place() + 1 ? words.back() : std::string(); }
  bool names_task() const { return action() == "drain" || action() == "add"; }
  bool has_argument() const { return names_task() || action() == "backups"; }
};

std::string what_is_done(const CtlArguments& arguments) {
  const std::string& action = arguments.action();
  if (action == "pause") return "the run pauses after the present round";
  if (action == "resume") return "the run goes on";
  if (action == "stop") return "the run ends, with a checkpoint if train.checkpoint.on_signal says so";
  if (action == "drain") return arguments.argument() + " has nothing to do any more; its node may be stopped";
  if (action == "add") return arguments.argument() + " takes part again as soon as its node runs";
  if (action == "backups")
    return "from now on a round does not wait for " + arguments.argument() + " of its shards";
  return "the run has saved a checkpoint";
}

Result<Json> control_run(const CtlArguments& arguments) {
  TROUPE_ASSIGN(const std::string folder, observe::find_run(arguments.words.front()));
  const std::string argument = arguments.has_argument() ? '/' + arguments.argument() : std::string();
  return observe::ask_run(folder, "POST", "/ctl/" + arguments.action() + argument);
}

Result<Json> control_cluster(const CtlArguments& arguments) {
  RealDisk disk;
  TROUPE_ASSIGN(const auto spec, config::load_cluster(disk, arguments.cluster, cluster::owner_job, 0));
  constexpr auto timeout = std::chrono::seconds(5);
  TROUPE_ASSIGN(const std::string saved,
                cluster::control_cluster(spec, arguments.action(), arguments.argument(), timeout));
  Json json = {{"done", arguments.action()}};
  if (!saved.empty()) json["checkpoint"] = saved;
  return json;
}

int control(const CtlArguments& arguments) {
  const auto done = arguments.cluster.empty() ? control_run(arguments) : control_cluster(arguments);
  if (!done) return failed(done.status(), arguments.json);
  if (arguments.json) {
    print_json(*done);
    return 0;
  }
  const std::string saved = done->value("checkpoint", "");
  std::printf("%s%s%s\n", what_is_done(arguments).c_str(), saved.empty() ? "" : ": ", saved.c_str());
  return 0;
}

/// Throws unless the words are those of the usage.
void check_words(const CtlArguments& arguments) {
  if (arguments.words.size() <= arguments.place())
    throw CLI::ValidationError("ctl", "expected RUN ACTION, or --cluster FILE ACTION");
  const std::vector<std::string> known = {"pause", "resume", "checkpoint", "stop", "drain", "add", "backups"};
  const std::string& action = arguments.action();
  if (std::ranges::find(known, action) == known.end())
    throw CLI::ValidationError("action", expected(alternatives(known), action));
  const size_t words = arguments.place() + (arguments.has_argument() ? 2 : 1);
  if (arguments.words.size() < words)
    throw CLI::ValidationError(action, arguments.names_task()
                                           ? "expected the name of a task, such as worker/1 or ps/0"
                                           : "expected for how many shards a round does not wait, such as 1");
  if (arguments.words.size() > words)
    throw CLI::ValidationError(action, "does not take '" + arguments.words.back() + "'");
}

}  // namespace

void add_ctl_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<CtlArguments>();
  auto* command =
      add_command(app, "ctl", "Tell a run that trains to pause, resume, save, stop or do without a task.",
                  "troupe ctl runs/digits checkpoint\n"
                  "         troupe ctl runs/digits drain worker/1\n"
                  "         troupe ctl --cluster cluster.toml pause");
  command
      ->add_option(
          "words", arguments->words,
          "the folder of a run, or of all runs of a name (the newest one), unless --cluster is given; "
          "then the action: pause (between two rounds), resume, checkpoint (save now), stop (as "
          "SIGTERM does), drain TASK (others take over its shards and variables, so that its node may be "
          "stopped), add TASK (a drained task takes part again), backups NUMBER (for how many shards a "
          "round does not wait)")
      ->required()
      ->expected(1, 3);
  command->add_option("--cluster", arguments->cluster,
                      "cluster file (TOML): the run that trains on the workers of the cluster");
  command->add_flag("--json", arguments->json, "print one line of JSON");
  command->callback([arguments, &result] {
    check_words(*arguments);
    result = control(*arguments);
  });
}

}  // namespace troupe::commands

// The subcommand ctl: tells a run that trains to pause, to go on, to save a checkpoint, or to end.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/observe/watched_run.h"

namespace troupe::commands {
namespace {

using Json = nlohmann::ordered_json;

struct CtlArguments {
  std::vector<std::string> words;  ///< the run and the action
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

int control(const CtlArguments& arguments) {
  const std::string& action = arguments.action();
  if (action == "drain" || action == "add")
    return failed(unimplemented("ctl " + action + " is not available yet"), arguments.json);
  const auto done = control_run(arguments);
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
  if (arguments.words.size() != 2) throw CLI::ValidationError("ctl", "expected RUN ACTION");
  const CLI::IsMember known({"pause", "resume", "checkpoint", "stop", "drain", "add"});
  std::string action = arguments.action();
  if (const std::string why = known(action); !why.empty()) throw CLI::ValidationError("action", why);
}

}  // namespace

void add_ctl_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<CtlArguments>();
  auto* command = add_command(app, "ctl", "Tell a run that trains to pause, resume, save or stop.",
                              "troupe ctl runs/digits checkpoint");
  command
      ->add_option(
          "words", arguments->words,
          "the folder of a run, or of all runs of a name (the newest one), unless --cluster is given; "
          "then the action: pause (between two rounds), resume, checkpoint (save now), stop (as "
          "SIGTERM does); drain and add are not available yet")
      ->required()
      ->expected(1, 2);
  command->add_flag("--json", arguments->json, "print one line of JSON");
  command->callback([arguments, &result] {
    check_words(*arguments);
    result = control(*arguments);
  });
}

}  // namespace troupe::commands

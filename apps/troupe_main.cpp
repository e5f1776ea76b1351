// The program `troupe`: parses the command line and runs the subcommand.
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <vector>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/usage_mistakes.h"
#include "apps/config/diagnostics.h"
#include "apps/config/foreign_names.h"
#include "apps/config/run_config.h"

namespace troupe::commands {
namespace {

/// Returns whether errors are to be printed as JSON; usable before the command line has been parsed.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view argument) { return argument == "--json"; });
}

/// Returns a mistake if the first argument names no subcommand.
Status check_subcommand(const CLI::App& app, std::string_view first) {
  if (first.starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::ranges::find(names, first) != names.end()) return {};
  const std::string advice = config::advice_on_subcommand(first);
  return invalid_argument("there is no subcommand '" + std::string(first) + "'" +
                          (advice.empty() ? config::hint(first, {names.begin(), names.end()}) : advice) +
                          "; `troupe help` lists all of them");
}

/// Returns a mistake that says which arguments of the subcommand are missing.
Status missing_arguments(const CLI::App& app) {
  const CLI::App* const command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  std::string text;
  for (const CLI::Option* const option : command->get_options())
    if (option->get_required() && option->empty())
      text += (text.empty() ? "" : ", ") + option->get_name(option->get_positional(), false) + " (" +
              option->get_description() + ')';
  const std::string example = command->get_footer();
  return invalid_argument("troupe " + command->get_name() + ": missing: " + text +
                          (example.empty() ? "" : "\n  " + example) + "\n  `troupe help " +
                          command->get_name() + "` explains it");
}

/// Returns a mistake that names each option that the subcommand does not have, and what to write instead.
Status unknown_options(const CLI::App& app) {
  const CLI::App* const command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  std::vector<std::string> options;
  for (const CLI::Option* const option : command->get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  std::vector<std::string> paths;
  const bool sets_keys = std::ranges::find(options, "--set") != options.end();
  for (const config::Key& key : config::run_schema()) paths.emplace_back(key.path);
  std::string text;
  for (const std::string& extra : command->remaining(true)) {
    if (!extra.starts_with('-') && !text.empty()) continue;  // the value of the option before
    const std::string name = extra.substr(0, extra.find('='));
    const size_t begin = std::min(name.find_first_not_of('-'), name.size());
    std::string advice;
    if (sets_keys) advice = config::advice_on_key(name.substr(begin), {paths.begin(), paths.end()});
    if (constexpr std::string_view write = "; write ";
        advice.starts_with(write) && advice.find(' ', write.size()) == advice.npos)
      advice = "; write --set " + advice.substr(write.size()) + "=VALUE";
    if (advice.empty()) advice = config::hint(name, {options.begin(), options.end()});
    text += text.empty() ? "" : "\n";
    text += command->get_name();
    text += " takes no '";
    text += extra;
    text += "'";
    text += advice;
  }
  return invalid_argument(text + "; `troupe help " + command->get_name() + "` lists what it takes");
}

int run(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // the reader of a pipe receives each line at once
  CLI::App app("Troupe: a distributed dataflow system for machine learning.", "troupe");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("troupe ") + TROUPE_VERSION);
  int result = 0;
  add_all_commands(app, result);
  if (argc == 1) {
    std::printf("%s\n`troupe help` explains subcommands, keys of run files, ops and layers.\n",
                app.help().c_str());
    return bad_usage;
  }
  if (const Status mistake = check_subcommand(app, argv[1]); !mistake.ok())
    return failed(mistake, wants_json(argc, argv), bad_usage);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return failed(unknown_options(app), wants_json(argc, argv), bad_usage);
  } catch (const CLI::RequiredError& error) {
    const Status mistake = missing_arguments(app);
    return failed(
        mistake.text().find("missing: \n") == std::string::npos ? mistake : invalid_argument(error.what()),
        wants_json(argc, argv), bad_usage);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && wants_json(argc, argv))
      return failed(invalid_argument(usage_mistake(app, error)), true);
    return app.exit(error) == 0 ? 0 : bad_usage;
  }
  return result;
}

int run_or_say_why_not(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  return failed(Status(Code::Unknown, error.what()), wants_json(argc, argv), 1);
}

/// Lets writes fail whose reader has gone, or for which a file would become larger than is allowed. Otherwise the system would end
/// the process: a node or a server by the end of what reads its log.
void let_writes_fail() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// Writes what is left of the output. Returns the exit code, which is not 0 if any part of the output could not be written. A
/// reader that has gone, such as head, needs no message.
int end_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  // The reason of an earlier failure is not kept; that of one more write is most likely the same.
  if (errno == 0 && ::write(STDOUT_FILENO, "\n", 1) == 1) errno = EIO;
  if (errno == EPIPE) return code == 0 ? exit_code_of(SIGPIPE) : code;
  std::fprintf(stderr, "troupe: cannot write to standard output: %s\n", std::strerror(errno));
  return code == 0 ? 1 : code;
}

}  // namespace
}  // namespace troupe::commands

int main(int argc, char** argv) {
  troupe::commands::let_writes_fail();
  return troupe::commands::end_output(troupe::commands::run_or_say_why_not(argc, argv));
}

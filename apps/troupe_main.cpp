// The program `troupe`: parses the command line and runs the subcommand.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"

namespace troupe::commands {
namespace {

/// Returns whether errors are to be printed as JSON; usable before the command line has been parsed.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view argument) { return argument == "--json"; });
}

int run(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // the reader of a pipe receives each line at once
  CLI::App app("Troupe: a distributed dataflow system for machine learning.", "troupe");
  app.require_subcommand(1);
  int result = 0;
  add_all_commands(app, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && wants_json(argc, argv))
      return failed(invalid_argument(error.what()), true);
    return app.exit(error) == 0 ? 0 : bad_usage;
  }
  return result;
}

}  // namespace
}  // namespace troupe::commands

int main(int argc, char** argv) try {
  return troupe::commands::run(argc, argv);
} catch (const std::exception& error) {
  return troupe::commands::failed(troupe::Status(troupe::Code::Unknown, error.what()),
                                  troupe::commands::wants_json(argc, argv), 1);
}

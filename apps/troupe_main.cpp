// The program `troupe`: its command line.
#include <CLI/CLI.hpp>

#include <cstdio>

#include "apps/commands.h"

namespace {

constexpr int usage_error = 2;

void add_run_file(CLI::App& command, troupe::commands::TrainArguments& arguments) {
  command.add_option("file", arguments.file, "run file (TOML)")->required();
  command.add_option("--set", arguments.set, "lay a value over the run file: --set train.max_epochs=3")
      ->take_all();
  command.add_flag("--json", arguments.json, "the result as one line of JSON");
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // whoever reads a pipe sees each line as it comes
  CLI::App app("Troupe: a distributed dataflow system for machine learning.", "troupe");
  app.require_subcommand(1);
  troupe::commands::TrainArguments arguments;
  bool json = false;
  int result = 0;

  auto* train = app.add_subcommand("train", "Train what a run file describes.")
                    ->footer("Example: troupe train examples/digits.toml");
  add_run_file(*train, arguments);
  train->add_option("--resume", arguments.resume,
                    "go on with a run: 'auto' for the newest of this name, or its folder");
  train->add_option("--dry-run", arguments.dry_run_steps, "run so many steps and write nothing")
      ->check(CLI::PositiveNumber);
  train->add_flag("-q,--quiet", arguments.quiet, "print nothing but failures");
  train->callback([&] { result = troupe::commands::train(arguments); });

  auto* check = app.add_subcommand("check", "Check a run file, its data and shapes, without training.")
                    ->footer("Example: troupe check examples/digits.toml");
  add_run_file(*check, arguments);
  check->callback([&] { result = troupe::commands::check(arguments); });

  auto* version =
      app.add_subcommand("version", "Print the version.")->footer("Example: troupe version --json");
  version->add_flag("--json", json, "as JSON");
  version->callback([&] { result = troupe::commands::version(json); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  return result;
}

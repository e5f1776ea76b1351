// The subcommand verify: runs golden cases and compares their results with TensorFlow's.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/golden/verify.h"
#include "apps/text/escaped.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct VerifyArguments {
  golden::VerifyOptions options;
  std::string local;
  bool json = false;
};

/// Prints the verdict on a case: one line, or one for each step that failed.
void print(const golden::Verdict& verdict, bool json) {
  const std::string name = escaped(verdict.name);
  const bool ok = verdict.failures.empty();
  std::vector<std::string> why;
  for (const auto& failure : verdict.failures) why.push_back(escaped(failure));
  if (!verdict.lacks.empty()) why.push_back(escaped(verdict.lacks));
  if (json) {
    print_json({{"case", name}, {"ok", ok}, {"why", why}, {"seconds", verdict.seconds}});
    return;
  }
  if (why.empty()) std::printf("ok   %s\n", name.c_str());
  for (const auto& line : why) std::printf("%s %s: %s\n", ok ? "lack" : "FAIL", name.c_str(), line.c_str());
}

int verify(VerifyArguments& arguments) {
  if (!arguments.local.empty()) {
    auto tasks = parse_tasks(arguments.local);
    if (!tasks) return failed(tasks.status(), arguments.json);
    arguments.options.tasks = std::move(*tasks);
    arguments.options.program = this_program();
  }
  RealDisk disk;
  int passed = 0, lacking = 0, failures = 0;
  const Status status = golden::verify(disk, arguments.options, [&](const golden::Verdict& verdict) {
    ++(!verdict.failures.empty() ? failures : verdict.lacks.empty() ? passed : lacking);
    print(verdict, arguments.json);
  });
  if (!status.ok()) return failed_to_open(status, arguments.json);
  if (arguments.json)
    print_json({{"passed", passed}, {"failed", failures}, {"lacking", lacking}});
  else
    std::printf("%d passed, %d failed%s\n", passed, failures,
                lacking == 0 ? "" : (", " + std::to_string(lacking) + " lack ops").c_str());
  return failures == 0 ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<VerifyArguments>();
  auto* command =
      app.add_subcommand("verify", "Run golden cases and report results that differ from TensorFlow's.")
          ->footer("Example: troupe verify tests/golden --local ps=1,worker=2");
  command->add_option("path", arguments->options.paths, "folders that are cases or contain cases")
      ->required();
  command->add_option("--local", arguments->local, "use several processes of this machine: ps=1,worker=2");
  add_memory(*command, arguments->options.memory);
  command->add_flag("--json", arguments->json, "print one line of JSON per case");
  command->callback([arguments, &result] { result = verify(*arguments); });
}

}  // namespace troupe::commands

// The subcommand completion: scripts for shells.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/reference/command_table.h"

namespace troupe::commands {

void add_completion_command(CLI::App& app, int& result) {
  const auto shell = std::make_shared<std::string>();
  auto* command = add_command(app, "completion", "Print a script with which a shell completes command lines.",
                              "troupe completion bash");
  command->add_option("shell", *shell, "the shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell, &result] {
    const auto script = reference::completion(reference::command_table(app), *shell);
    if (script) std::printf("%s", script->c_str());
    result = script ? 0 : failed(script.status());
  });
}

}  // namespace troupe::commands

// docs/reference/commands.md: the subcommands and their options.
#include <fmt/format.h>

#include "apps/reference/command_table.h"
#include "apps/reference/markdown.h"

namespace troupe::reference {

std::string commands_markdown(const std::vector<CommandInfo>& commands) {
  std::string text =
      "# Subcommands\n\nMade by `ninja reference` from the program; `troupe help NAME` says the same.\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("\n## troupe {}\n\n{}\n\n```\n{}\n```\n\n| option | meaning |\n|---|---|\n",
                        command.name, in_text(command.meaning), command.example);
    for (const OptionInfo& option : command.options) {
      std::string names;
      for (const std::string& name : option.names) names += (names.empty() ? "`" : ", `") + name + '`';
      std::string meaning = in_cell(option.meaning);
      if (!option.choices.empty())
        meaning += fmt::format(" ({})", in_cell(fmt::format("{}", fmt::join(option.choices, ", "))));
      text += fmt::format("| {} | {}{} |\n", names, meaning, option.is_required ? "; required" : "");
    }
  }
  return text;
}

}  // namespace troupe::reference

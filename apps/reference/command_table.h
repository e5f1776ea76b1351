// The subcommands of the program and their options as values, read from its command line parser once all are declared, and what
// is made of them: a page of reference, man pages, and completion for shells. Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "messages/values/status.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
}

namespace troupe::reference {

struct OptionInfo {
  /// "-o", "--out"; of an argument without a name, what stands for it: "FILE".
  std::vector<std::string> names;
  std::string meaning;
  bool is_flag = false, is_positional = false, is_required = false;
  std::vector<std::string> choices;  ///< the values that are allowed, if they are few
};

struct CommandInfo {
  std::string name, meaning, example;
  std::vector<OptionInfo> options;
};

/// In the order in which help lists them.
std::vector<CommandInfo> command_table(const CLI::App& app);

/// Returns docs/reference/commands.md.
std::string commands_markdown(const std::vector<CommandInfo>& commands);

/// Returns the man pages by the names of their files: "troupe.1", "troupe-train.1".
std::map<std::string, std::string> man_pages(const std::vector<CommandInfo>& commands,
                                             const std::string& version);

/// Returns a script that completes command lines. Fails with InvalidArgument if the shell is none of bash, zsh and fish.
Result<std::string> completion(const std::vector<CommandInfo>& commands, const std::string& shell);

}  // namespace troupe::reference

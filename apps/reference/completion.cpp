// Scripts with which bash, zsh and fish complete command lines.
#include <fmt/format.h>

#include "apps/reference/command_table.h"

namespace troupe::reference {
namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// Returns the text in single quotes for a shell of the family of sh.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c == '\n' ? ' ' : c;
  }
  return result + '\'';
}

std::vector<std::string> names_of(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string bash(const std::vector<CommandInfo>& commands) {
  std::string names, options, values;
  for (const CommandInfo& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    options += fmt::format("    {}) words={} ;;\n", command.name, in_quotes(joined(names_of(command))));
    for (const OptionInfo& option : command.options) {
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names)
        values += fmt::format("    {}) words={} ;;\n",
                              in_quotes(command.name + ' ' + (option.is_positional ? "" : name)),
                              in_quotes(joined(option.choices)));
    }
  }
  return fmt::format(R"(# Completion of troupe's command lines for bash: . <(troupe completion bash)
_troupe() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W {} -- "$current")
    return
  fi
  [[ $before == -* ]] || before=
  case "$command $before" in
{}  esac
  if [ -z "$words" ] && [[ $current == -* ]]; then
    case $command in
{}    esac
  fi
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -F _troupe troupe
)",
                     in_quotes(names), values, options);
}

/// Returns a text for the brackets of zsh's _arguments.
std::string in_brackets(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh(const std::vector<CommandInfo>& commands) {
  std::string names, cases;
  for (const CommandInfo& command : commands) {
    names += "    " + in_quotes(command.name + ':' + in_brackets(command.meaning)) + '\n';
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const OptionInfo& option : command.options) {
      if (option.is_positional) continue;
      const std::string value = option.is_flag           ? ""
                                : option.choices.empty() ? ":value:_files"
                                                         : fmt::format(":value:({})", joined(option.choices));
      for (const std::string& name : option.names)
        cases += fmt::format(" \\\n        {}",
                             in_quotes(fmt::format("*{}[{}]{}", name, in_brackets(option.meaning), value)));
    }
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef troupe
# Completion of troupe's command lines for zsh: troupe completion zsh > FOLDER_OF_FPATH/_troupe
_troupe() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe subcommand commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
compdef _troupe troupe
# The first time it is loaded from a folder of fpath, this file is the body of the function.
if [ "$funcstack[1]" = _troupe ]; then _troupe "$@"; fi
)",
                     names, cases);
}

/// Returns the text in single quotes for fish.
std::string in_fish_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '\'';
}

std::string fish(const std::vector<CommandInfo>& commands) {
  std::string text =
      "# Completion of troupe's command lines for fish: troupe completion fish > "
      "~/.config/fish/completions/troupe.fish\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("complete -c troupe -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        in_fish_quotes(command.meaning));
    for (const OptionInfo& option : command.options) {
      if (option.is_positional) continue;
      text += fmt::format("complete -c troupe -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        text += " -x -a " + in_fish_quotes(joined(option.choices));
      else if (!option.is_flag)
        text += " -r";
      text += " -d " + in_fish_quotes(option.meaning) + '\n';
    }
  }
  return text;
}

}  // namespace

Result<std::string> completion(const std::vector<CommandInfo>& commands, const std::string& shell) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return invalid_argument("there is no completion for '" + shell + "'; there is one for bash, zsh and fish");
}

}  // namespace troupe::reference

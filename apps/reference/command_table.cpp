#include "apps/reference/command_table.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace troupe::reference {
namespace {

/// Returns the values of a text such as "TEXT:{train,valid,test}"; none if it has no such list.
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const size_t begin = type.find('{'), end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return choices;
  for (size_t at = begin + 1; at < end;) {
    const size_t comma = std::min(type.find(',', at), end);
    const std::string choice = type.substr(at, comma - at);
    choices.push_back(choice.substr(0, choice.find("->")));
    at = comma + 1;
  }
  return choices;
}

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  info.is_positional = info.names.empty();
  if (info.is_positional) {
    std::string name = option.get_name(true);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    info.names.push_back(std::move(name));
  }
  info.meaning = option.get_description();
  info.is_flag = option.get_expected_max() == 0;
  info.is_required = option.get_required();
  info.choices = choices_in(option.get_type_name());
  return info;
}

}  // namespace

std::vector<CommandInfo> command_table(const CLI::App& app) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandInfo info{command->get_name(), command->get_description(), command->get_footer(), {}};
    constexpr std::string_view prefix = "Example: ";
    if (info.example.starts_with(prefix)) info.example.erase(0, prefix.size());
    for (const CLI::Option* const option : command->get_options([](const CLI::Option*) { return true; }))
      info.options.push_back(info_of(*option));
    commands.push_back(std::move(info));
  }
  return commands;
}

}  // namespace troupe::reference

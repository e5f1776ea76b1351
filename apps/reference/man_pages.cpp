// Man pages of the program and its subcommands, in the language of troff.
#include <fmt/format.h>

#include <algorithm>

#include "apps/reference/command_table.h"

namespace troupe::reference {
namespace {

/// Returns the text so that troff takes no character of it for markup, on one line.
std::string roff(std::string_view text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result += "\\&";
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string page_head(const std::string& name, const std::string& meaning, const std::string& version) {
  return fmt::format(".TH {} 1 \"\" \"troupe {}\" \"Troupe\"\n.SH NAME\n{} \\- {}\n", upper(name), version,
                     roff(name), roff(meaning));
}

constexpr const char* exit_status =
    ".SH EXIT STATUS\n0 (success), 1 (failure), 2 (wrong usage or config), 3 (bad data), 4 (the training "
    "diverged), 130 and 143 (ended by "
    "SIGINT or SIGTERM).\n";

std::string option_names(const OptionInfo& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  return names + (option.is_flag || option.is_positional ? "" : " \\fIVALUE\\fR");
}

std::string command_page(const CommandInfo& command, const std::string& version) {
  std::string arguments;
  for (const OptionInfo& option : command.options)
    if (option.is_positional)
      arguments += option.is_required ? " \\fI" + roff(option.names[0]) + "\\fR"
                                      : " [\\fI" + roff(option.names[0]) + "\\fR]";
  std::string text = page_head("troupe-" + command.name, command.meaning, version);
  text +=
      fmt::format(".SH SYNOPSIS\n\\fBtroupe {}\\fR{} [\\fIOPTION\\fR...]\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
                  roff(command.name), arguments, roff(command.meaning));
  for (const OptionInfo& option : command.options) {
    std::string meaning = option.meaning;
    if (!option.choices.empty()) meaning += fmt::format(" ({})", fmt::join(option.choices, ", "));
    text += fmt::format(".TP\n{}\n{}\n", option_names(option), roff(meaning));
  }
  text += fmt::format(".SH EXAMPLE\n.EX\n{}\n.EE\n", roff(command.example));
  return text + exit_status + ".SH SEE ALSO\n\\fBtroupe\\fR(1)\n";
}

}  // namespace

std::map<std::string, std::string> man_pages(const std::vector<CommandInfo>& commands,
                                             const std::string& version) {
  std::map<std::string, std::string> pages;
  std::string text = page_head("troupe", "a distributed dataflow system for machine learning", version);
  text +=
      ".SH SYNOPSIS\n\\fBtroupe\\fR \\fISUBCOMMAND\\fR [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\nTroupe trains "
      "models that are described in a file, on one "
      "machine or many, and uses them. Each subcommand has a page of its own.\n.SH SUBCOMMANDS\n";
  std::string others;
  for (const CommandInfo& command : commands) {
    text += fmt::format(".TP\n\\fBtroupe {}\\fR\n{}\n", roff(command.name), roff(command.meaning));
    others += fmt::format("{}\\fBtroupe\\-{}\\fR(1)", others.empty() ? "" : ",\n", roff(command.name));
    pages["troupe-" + command.name + ".1"] = command_page(command, version);
  }
  pages["troupe.1"] = text + exit_status + ".SH SEE ALSO\n" + others + "\n";
  return pages;
}

}  // namespace troupe::reference

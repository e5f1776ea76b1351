#include "apps/commands/usage_mistakes.h"

#include <CLI/CLI.hpp>

#include <string_view>

#include "apps/reference/command_table.h"

namespace troupe::commands {
namespace {

/// Returns the text with the first occurrence of a word, if there is one, replaced by another.
std::string replaced(std::string text, std::string_view word, std::string_view other) {
  const size_t at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), other);
}

/// Returns the kind of number that an option takes, as its type and its check say.
std::string number_for(const std::string& type) {
  const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  const std::string number = type.starts_with("FLOAT") ? "a number" : "a whole number";
  if (has("POSITIVE")) return number + " above 0";
  if (has("NONNEGATIVE")) return number + " of at least 0";
  constexpr std::string_view opening = " in [", dash = " - ";
  const size_t begin = type.find(opening), end = type.find(']', begin);
  if (begin == std::string::npos || end == std::string::npos)
    return type.starts_with("UINT") ? number + " of at least 0" : number;
  const size_t low = begin + opening.size();
  return number + " from " + replaced(type.substr(low, end - low), dash, " to ");
}

/// Returns what an option takes. `choices` are the values that are allowed, if they are few.
std::string expected_by(const CLI::Option& option, const std::vector<std::string>& choices) {
  if (!choices.empty()) return alternatives(choices);
  const std::string type = option.get_type_name();
  if (type.find("SIZE") != std::string::npos) return "a number of bytes, such as 1000000, 8GB or 512MiB";
  return number_for(type);
}

bool has_check(const CLI::Option& option) {
  return option.get_type_name().find(':') != std::string::npos;  // behind which the parser describes it
}

/// Makes the check of an option say what is expected.
void explain_check(CLI::Option& option, const std::string& what) {
  CLI::Validator* const check = option.get_validator(0);
  check->operation([original = *check, what](std::string& input) -> std::string {
    std::string value = input;
    try {
      if (!original(value).empty()) return expected(what, input);
    } catch (const CLI::ValidationError&) {
      return expected(what, input);
    }
    input = value;
    return {};
  });
}

/// Returns the option with whose name a message of the parser begins; null if there is none.
const CLI::Option* option_of(const CLI::App& command, std::string_view message) {
  for (const CLI::Option* const option : command.get_options()) {
    const std::string name = option->get_name();
    if (!name.empty() && message.starts_with(name) && message.size() > name.size() &&
        (message[name.size()] == ':' || message[name.size()] == ' '))
      return option;
  }
  return nullptr;
}

/// Returns why an option cannot have as many values as it was given.
std::string wrong_count(const CLI::Option& option) {
  const std::string name = option.get_name();
  const size_t given = option.results().size(), most = static_cast<size_t>(option.get_expected_max());
  if (most == 0) return name + " takes no value";
  if (given <= most) return name + " needs a value (" + option.get_description() + ')';
  return name + " takes " + (most == 1 ? "one value" : "at most " + std::to_string(most) + " values") +
         "; found " + std::to_string(given);
}

/// Returns what is wrong with the options of a subcommand.
std::string explained(const CLI::App& command, const CLI::Error& error) {
  constexpr std::string_view not_converted = "Could not convert: ";
  std::string message = error.what();
  const std::string kind = error.get_name();
  if (kind == "ExcludesError") return replaced(message, " excludes ", " and ") + " cannot be used together";
  if (kind == "RequiresError") return replaced(message, " requires ", " is used only together with ");
  std::string_view named = message;
  if (named.starts_with(not_converted)) named.remove_prefix(not_converted.size());
  const CLI::Option* const option = option_of(command, named);
  if (!option || (kind != "ArgumentMismatch" && kind != "ConversionError")) return message;
  if (kind == "ArgumentMismatch" || option->results().empty() || option->get_expected_max() == 0)
    return wrong_count(*option);
  return option->get_name() + ": " + expected(expected_by(*option, {}), option->results().back());
}

}  // namespace

std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

std::string expected(const std::string& what, const std::string& found) {
  return "expected " + what + "; found '" + found + "'";
}

std::string usage_mistake(const CLI::App& app, const CLI::Error& error) {
  const auto parsed = app.get_subcommands();
  if (parsed.empty()) return "troupe: " + explained(app, error) + "\n  `troupe help` explains it";
  const std::string name = parsed.front()->get_name();
  return "troupe " + name + ": " + explained(*parsed.front(), error) + "\n  `troupe help " + name +
         "` explains it";
}

void explain_usage_mistakes(CLI::App& app) {
  const auto table = reference::command_table(app);  // which has subcommands and options in the same order
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  for (size_t i = 0; i < all.size(); ++i) {
    const auto options = all[i]->get_options();
    for (size_t k = 0; k < options.size(); ++k)
      if (has_check(*options[k]))
        explain_check(*options[k], expected_by(*options[k], table[i].options[k].choices));
  }
  app.failure_message(
      [](const CLI::App* refused, const CLI::Error& error) { return usage_mistake(*refused, error) + '\n'; });
}

}  // namespace troupe::commands

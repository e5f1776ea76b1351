// Mistakes in the use of the command line, in plain words: what the parser of the command line refuses is told here. Functions
// without state; the main thread.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
class Error;
}  // namespace CLI

namespace troupe::commands {

/// Returns the words as a choice: "dot, svg or html".
std::string alternatives(const std::vector<std::string>& words);
/// Returns "expected WHAT; found 'FOUND'".
std::string expected(const std::string& what, const std::string& found);

/// Returns what is wrong with a command line that the parser has refused, and where it is explained.
std::string usage_mistake(const CLI::App& app, const CLI::Error& error);

/// Makes all subcommands that were added to `app` say in plain words what is wrong with their options and arguments, and what is
/// expected.
void explain_usage_mistakes(CLI::App& app);

}  // namespace troupe::commands

// What the subcommands share: their options, signals, the terminal, and how results and failures are told.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "messages/values/status.h"

namespace CLI {  // NOLINT(readability-identifier-naming): that of CLI11
class App;
}

namespace troupe::commands {

constexpr int bad_usage = 2, bad_data = 3, diverged = 4;  ///< exit codes beside 0 and 1

/// A subcommand, its description, and an example of its use.
CLI::App* add_command(CLI::App& app, const char* name, const char* what, const char* example);
/// Adds --memory, bytes or "8GB", "512MiB" (RuntimeOptions::memory).
void add_memory(CLI::App& command, size_t& memory);

/// The value of --local: "ps=1,worker=2".
Result<std::map<std::string, int>> parse_tasks(const std::string& text);
/// The same, of jobs that have a part in a training.
Result<std::map<std::string, int>> parse_training_tasks(const std::string& text);
/// The file that this process runs.
std::string this_program();

/// From now on SIGINT and SIGTERM ask for an orderly end, by this flag, and the second one ends the process at once.
const std::atomic<bool>& stop_on_signals();
/// The signal that has asked for an orderly end; 0: none.
int stop_signal();
/// What the program ends with when a signal has ended it in order: 130 after SIGINT, 143 after SIGTERM, as of one that a signal kills.
int exit_code_of(int signal);
/// "SIGINT"
const char* name_of(int signal);

/// Tells what failed: people on the standard error, programs (`json`) as {"error", "code", "exit_code"} on the standard output. Gives
/// the exit code, which is that of the status unless there is another.
int failed(const Status& status, bool json = false, std::optional<int> exit_code = {});
/// The same for what the command line or a file that it names asks for: where that is not there, it is the usage that is wrong.
int failed_to_open(const Status& status, bool json = false);

/// Prints one line of JSON: what a subcommand answers to --json.
void print_json(const nlohmann::ordered_json& json);
/// What a subcommand has written, a line for each, or {"files": [...]}.
void print_files(const std::vector<std::string>& files, bool json);
/// The first columns of a line, so many as the terminal at the standard output has now less one, so that it never wraps; all of the
/// line where the width is not known.
std::string cut_to_terminal(const std::string& line);

}  // namespace troupe::commands

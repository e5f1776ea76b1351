// Functions that the subcommands share: common options, signals, output to the terminal, and the format of results and errors.
// For the main thread of the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/cluster.h"
#include "messages/values/status.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
class Validator;
}  // namespace CLI

namespace troupe {
class Disk;
}

namespace troupe::commands {

/// The exit codes other than 0 (success) and 1 (failure).
constexpr int bad_usage = 2, bad_data = 3, diverged = 4;

/// Adds a subcommand with its description and an example of its use.
CLI::App* add_command(CLI::App& app, const char* name, const char* what, const char* example);
/// Returns what makes a number of bytes of a size such as "8GB" or "512MiB".
CLI::Validator size_value();
/// Adds the option --memory, which takes bytes or a size such as "8GB" or "512MiB" (RuntimeOptions::memory).
void add_memory(CLI::App& command, size_t& memory);

/// Adds the option --transport: auto, tcp, shared or ucx (ClusterSpec::transport).
void add_transport(CLI::App& command, Transport& transport);

/// Parses the value of --local, such as "ps=1,worker=2", into the number of tasks of each job.
Result<std::map<std::string, int>> parse_tasks(const std::string& text);
/// Does the same as parse_tasks(), but accepts only jobs that take part in training.
Result<std::map<std::string, int>> parse_training_tasks(const std::string& text);
/// Returns the path of the executable file of this process.
std::string this_program();

/// Installs handlers for SIGINT and SIGTERM. The first signal sets the returned flag, which requests an orderly end; the second one
/// kills the process.
const std::atomic<bool>& stop_on_signals();
/// Returns the signal that has requested an orderly end, or 0 if there was none.
int stop_signal();
/// Returns the exit code after an orderly end that a signal requested: 130 for SIGINT, 143 for SIGTERM, as shells report a process
/// that the signal has killed.
int exit_code_of(int signal);
/// Returns the name of the signal, such as "SIGINT".
const char* name_of(int signal);

/// Reports an error: as text on the standard error or, if `json`, as {"error", "code", "exit_code"} on the standard output. Returns
/// `exit_code` if it is given, otherwise the exit code that belongs to the status.
int failed(const Status& status, bool json = false, std::optional<int> exit_code = {});
/// Does the same as failed() for a file or item that the command line names: NotFound counts as wrong usage.
int failed_to_open(const Status& status, bool json = false);

/// Returns the ending of a file's name that says its form, such as ".pdf"; empty if there is none, or if it does not begin with a
/// letter: that of "digits-1.5" is a number.
std::string ending_of(const std::string& path);
/// Fails with AlreadyExists, which names the option --force, if there is a file or folder of this name.
Status check_free(Disk& disk, const std::string& path);
/// Fails with AlreadyExists if `output`, which a subcommand would replace, is one of the local files that it reads.
Status check_reads_no(const std::string& output, const std::vector<std::string>& inputs);

/// Prints one line of JSON, the result of a subcommand with --json.
void print_json(const nlohmann::ordered_json& json);
/// Prints the paths of the files that a subcommand has written, one per line or, if `json`, as {"files": [...]}.
void print_files(const std::vector<std::string>& files, bool json);
/// Returns as much of the line as fits the terminal at the standard output without wrapping (its width minus one), or the whole
/// line if the width is unknown.
std::string cut_to_terminal(const std::string& line);

}  // namespace troupe::commands

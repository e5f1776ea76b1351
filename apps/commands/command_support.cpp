#include "apps/commands/command_support.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/config/cluster_file.h"
#include "apps/config/run_config.h"
#include "messages/env/disk.h"
#include "messages/values/json_text.h"

namespace troupe::commands {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int> first_signal{0};

void on_signal(int signal) {
  if (stop_requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  } else {
    first_signal = signal;
  }
}

}  // namespace

CLI::App* add_command(CLI::App& app, const char* name, const char* what, const char* example) {
  return app.add_subcommand(name, what)->footer(std::string("Example: ") + example);
}

CLI::Validator size_value() {
  const CLI::AsSizeValue size(true);  // kB are 1000 bytes, KiB 1024
  return CLI::Validator(
      [size](std::string& text) {
        return text.starts_with('-') ? "expected a number of bytes, found " + text : size(text);
      },
      size.get_description());
}

void add_memory(CLI::App& command, size_t& memory) {
  command
      .add_option(
          "--memory", memory,
          "the most memory for the tensors of a process, in bytes or as 8GB, 512MiB; default: 80 % of the "
          "memory of the machine or of its cgroup, divided equally among the processes started here")
      ->transform(size_value());
}

void add_transport(CLI::App& command, Transport& transport) {
  const std::map<std::string, Transport> names = {{"auto", Transport::Auto},
                                                  {"tcp", Transport::Tcp},
                                                  {"shared", Transport::Shared},
                                                  {"ucx", Transport::Ucx}};
  command
      .add_option(
          "--transport", transport,
          "how nodes exchange tensors: auto (through shared memory with nodes of the same host, else over "
          "TCP), "
          "tcp, shared (only through shared memory), or ucx (only through UCX, which does not encrypt them); "
          "default: auto")
      ->transform(CLI::CheckedTransformer(names));
}

Result<std::map<std::string, int>> parse_tasks(const std::string& text) {
  const auto refused = [&](const std::string& why) {
    return invalid_argument("--local " + text + ": " + why);
  };
  std::map<std::string, int> tasks;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string job = part.substr(0, equals);
    int count = 0;
    const auto [end, error] =
        std::from_chars(part.data() + std::min(equals + 1, part.size()), part.data() + part.size(), count);
    if (!config::is_identifier(job) || error != std::errc() || end != part.data() + part.size() ||
        count < 1 || count > 64)
      return refused("'" + part +
                     "' is not of the form JOB=COUNT with a COUNT from 1 to 64, such as worker=2");
    if (!tasks.emplace(job, count).second) return refused("job '" + job + "' is given twice");
  }
  return tasks;
}

Result<std::map<std::string, int>> parse_training_tasks(const std::string& text) {
  TROUPE_ASSIGN(auto tasks, parse_tasks(text));
  for (const auto& [job, count] : tasks)
    if (const Status status = config::check_training_job(job); !status.ok())
      return invalid_argument("--local " + text + ": " + status.text());
  return tasks;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

const std::atomic<bool>& stop_on_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return stop_requested;
}

int stop_signal() { return first_signal; }

int exit_code_of(int signal) { return 128 + signal; }

const char* name_of(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

int failed(const Status& status, bool json, std::optional<int> exit_code) {
  const int code = exit_code.value_or(Error(status).exit_code());
  if (json)
    print_json({{"error", status.message()}, {"code", name(status.code())}, {"exit_code", code}});
  else
    std::fprintf(stderr, "troupe: %s\n", status.message().c_str());
  return code;
}

int failed_to_open(const Status& status, bool json) {
  return failed(status, json, status.code() == Code::NotFound ? std::optional<int>(bad_usage) : std::nullopt);
}

std::string ending_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const bool begins_with_letter =
      ending.size() > 1 && std::isalpha(static_cast<unsigned char>(ending[1])) != 0;
  return begins_with_letter ? ending : std::string();
}

Status check_free(Disk& disk, const std::string& path) {
  return disk.info(path).ok() ? already_exists(path + " exists; --force replaces it") : Status();
}

Status check_reads_no(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(output, input, ignored))
      return already_exists(output + " is read, too, as " + input + "; write to another file");
  }
  return {};
}

void print_json(const nlohmann::ordered_json& json) { std::printf("%s\n", json_line(json).c_str()); }

void print_files(const std::vector<std::string>& files, bool json) {
  if (json) return print_json({{"files", files}});
  for (const auto& file : files) std::printf("%s\n", file.c_str());
}

std::string cut_to_terminal(const std::string& line) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line;
  return line.substr(0, size.ws_col - 1u);
}

}  // namespace troupe::commands

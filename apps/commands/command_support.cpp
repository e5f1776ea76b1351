#include "apps/commands/command_support.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>

#include "apps/text/json_line.h"

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

void add_memory(CLI::App& command, size_t& memory) {
  command
      .add_option(
          "--memory", memory,
          "bytes that the tensors of a process may take, or 8GB, 512MiB; default: 80 % of what the machine "
          "or its cgroup has, in equal parts for the processes that are started here")
      ->transform(CLI::AsSizeValue(true));
}

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
    std::printf("%s\n", JsonLine()
                            .add("error", status.message())
                            .add("code", name(status.code()))
                            .add("exit_code", code)
                            .text()
                            .c_str());
  else
    std::fprintf(stderr, "troupe: %s\n", status.message().c_str());
  return code;
}

int failed_to_open(const Status& status, bool json) {
  return failed(status, json, status.code() == Code::NotFound ? std::optional<int>(bad_usage) : std::nullopt);
}

std::string cut_to_terminal(const std::string& line) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line;
  return line.substr(0, size.ws_col - 1u);
}

}  // namespace troupe::commands

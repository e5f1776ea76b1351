#include "apps/command_support.h"

#include <csignal>
#include <cstdio>

namespace troupe::commands {
namespace {

std::atomic<bool> stop_requested{false};

void on_signal(int signal) {
  if (stop_requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return stop_requested;
}

int failed(const Status& status) {
  std::fprintf(stderr, "troupe: %s\n", status.message().c_str());
  return Error(status).exit_code();
}

}  // namespace troupe::commands

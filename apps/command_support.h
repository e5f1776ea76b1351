// What the subcommands share: signals, and how failures are told.
#pragma once

#include <atomic>

#include "messages/status.h"

namespace troupe::commands {

/// From now on SIGINT and SIGTERM ask for an orderly end, by this flag, and the second one ends the process at once.
const std::atomic<bool>& stop_on_signals();

/// Tells people what failed; the exit code.
int failed(const Status& status);

}  // namespace troupe::commands

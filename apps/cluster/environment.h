// Environment: the variables that a launcher sets for the processes it starts. A plain function that the caller supplies, so that
// tests need no real variables; any thread may call the functions here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "messages/values/status.h"

namespace troupe::cluster {

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Returns the number that a variable has; nothing if the variable is not set. Fails with InvalidArgument if it is no number.
Result<std::optional<uint64_t>> number_in(const Environment& environment, const std::string& name);

}  // namespace troupe::cluster

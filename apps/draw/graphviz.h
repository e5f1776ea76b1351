// Pictures of drawings, by graphviz' program dot. Blocks while the program runs.
#pragma once

#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe::draw {

/// Returns an SVG element for each drawing in the dot language, without the attributes id, so that a page can have several of
/// them. Fails with Unavailable if dot is not installed, and with Internal if it fails.
Result<std::vector<std::string>> svgs_of(const std::vector<std::string>& drawings);

}  // namespace troupe::draw

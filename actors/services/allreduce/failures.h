// The failures of collectives, as their members see them. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "messages/values/status.h"

namespace troupe {

/// Returns a failure as other members see it: their retry may help where the step of `member` ended for a reason of its own.
Status as_seen_by_others(const Status& cause, const std::string& member, const std::string& collective);
/// The site `device` cannot be reached.
Status lost_site(const std::string& device, const Status& reason);
Status disagreement(const std::string& member, const std::string& what, const std::string& other,
                    const std::string& others_what);
Status attempt_has_failed(uint64_t number, uint64_t attempt);

}  // namespace troupe

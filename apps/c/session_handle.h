// The handle of a session in the C interface, which a partial run shares, and what the functions of sessions share. Not installed.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "apps/c/graph_handle.h"
#include "apps/c/handles.h"
#include "apps/c/session.h"

namespace troupe::c {

struct SharedSession {
  std::shared_ptr<SharedGraph> graph;  ///< outlives the session
  Session session;
  std::vector<DeviceDescription> devices = session.devices();
  /// Partial runs have it, too: they keep the session after its handle is destroyed.
  std::shared_ptr<void> partial_runs = std::make_shared<char>();
};

/// Throws Error(InvalidArgument) if the number is negative.
std::chrono::nanoseconds duration(int64_t nanoseconds, const char* what);
std::vector<std::pair<Output, Tensor>> feeds_of(const troupe_step& step);
/// Returns the fetches, which must yield tensors, and behind them the targets.
std::vector<Output> fetches_of(const troupe_step& step);
StepOptions options_of(const troupe_step& step);

}  // namespace troupe::c

struct troupe_session {
  std::shared_ptr<troupe::c::SharedSession> shared;
};

namespace troupe::c {

/// Returns the session, which stays alive as long as the result.
inline std::shared_ptr<Session> session_of(troupe_session* session) {
  const auto& shared = needed(session, "session").shared;
  return {shared, &shared->session};
}

}  // namespace troupe::c

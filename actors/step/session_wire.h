// Session wire: converts between what a client wants of a session, what it gets, and their wire form
// (messages/schemas/sessions.capnp).
#pragma once

#include <vector>

#include "actors/net/worker_devices.h"
#include "actors/step/session_options.h"
#include "messages/schemas/sessions.capnp.h"

namespace troupe {

/// How long a client may make a server wait, in nanoseconds.
constexpr uint64_t max_patience = uint64_t{3600} * 1'000'000'000;

void write(const SessionOptions& options, wire::OpenSession::Builder builder);
/// Fails with InvalidArgument if an option is not allowed. The seed is set only if the client chose it.
Result<SessionOptions> read(wire::OpenSession::Reader reader);

void write(const std::vector<WorkerDevices>& workers, capnp::List<wire::Worker>::Builder builder);
/// Fails with InvalidArgument if a device has no name that can be read.
Result<std::vector<WorkerDevices>> read(capnp::List<wire::Worker>::Reader reader);

}  // namespace troupe

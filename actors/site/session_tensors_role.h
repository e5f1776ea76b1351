// The role of the actors of session tensors (messages/schemas/session_tensors.capnp) in their addresses: their service and the
// worker, which tells them that a session has ended, both use it. A constant.
#pragma once

namespace troupe {

/// The key of such an address is the name of the device.
inline constexpr const char* session_tensors_role = "session_tensors";

}  // namespace troupe

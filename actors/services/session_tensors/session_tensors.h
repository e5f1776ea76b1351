// The session tensors role: keeps the tensors of one device for which sessions have handles. Schema:
// messages/schemas/session_tensors.capnp.
#pragma once

#include <memory>
#include <string>

#include "actors/engine/role.h"

namespace troupe {

/// `device` is for errors.
std::unique_ptr<Role> make_session_tensors(const std::string& device);

}  // namespace troupe

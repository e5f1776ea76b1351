// RunControlRole: lets clients of a cluster control the training of this process (troupe ctl --cluster). They ask the trainer of a
// worker, which passes the request on to this actor of its client (messages/schemas/trainer.capnp). An object starts the actor, and
// ends it when it goes. One thread, that of the trainer.
#pragma once

#include "actors/runtime.h"
#include "apps/observe/run_control.h"

namespace troupe::services {

/// The role of the actor (actors/node_services.h).
inline constexpr const char* control_role = "control";

class RunControlRole {
 public:
  /// Both must outlive this object. Throws Error.
  RunControlRole(Runtime& runtime, observe::RunControl& control);
  ~RunControlRole();
  RunControlRole(const RunControlRole&) = delete;
  RunControlRole& operator=(const RunControlRole&) = delete;

 private:
  Runtime& runtime_;
};

}  // namespace troupe::services

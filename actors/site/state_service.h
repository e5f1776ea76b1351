// StateService: a service whose states, queues or tables for example, live in an actor each (actors/site/state_actors.h). One per
// device; may be used from any thread.
#pragma once

#include <string>
#include <utility>

#include "actors/site/device_site.h"
#include "actors/site/service.h"
#include "actors/site/state_actors.h"

namespace troupe {

/// `Spec` is what a state is made of (StateActors).
template <class Spec>
class StateService : public Service {
 public:
  void drop(StateCell& cell) override { states_.end(cell); }

 protected:
  /// `role` names the state in addresses and errors: "queue".
  StateService(DeviceSite& site, std::string role) : site_(site), states_(site, std::move(role)) {}

  /// Fails with Unimplemented if the device computes in memory of its own: "a queue keeps its elements in host memory: place it on
  /// a CPU". `keeps` is the beginning of that text.
  Status check_host(const std::string& keeps) const {
    if (site_.device->memory_kind() != MemoryKind::Device) return {};
    return unimplemented(keeps + " in host memory: place it on a CPU");
  }

  DeviceSite& site_;
  StateActors<Spec> states_;
};

}  // namespace troupe

// Profile wire: converts between profiles and their wire form (messages/schemas/profile.capnp). May be called from any thread.
#pragma once

#include <vector>

#include "actors/step/executor/device_profile.h"
#include "kernels/runtime/prepared_plan.h"
#include "kernels/runtime/step_profile.h"
#include "messages/schemas/profile.capnp.h"

namespace troupe {

using DeviceProfiles = capnp::List<wire::DeviceProfile>;

void write(const StepProfile& profile, const PreparedPlan& plan, wire::DeviceProfile::Builder to);
std::vector<DeviceProfile> read(DeviceProfiles::Reader from);

/// Collects the profiles of several PartitionDone messages in `done`, a PartitionDone or StepDone.
template <class Done, class Parts>
void gather_profiles(const Parts& parts, Done done) {
  uint32_t count = 0;
  for (const auto& part : parts) count += part->getProfile().size();
  if (count == 0) return;
  auto all = done.initProfile(count);
  uint32_t next = 0;
  for (const auto& part : parts)
    for (const auto device : part->getProfile()) all.setWithCaveats(next++, device);
}

}  // namespace troupe

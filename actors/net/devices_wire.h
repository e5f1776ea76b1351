// Devices wire: converts between devices and their wire form (messages/schemas/worker.capnp).
#pragma once

#include <vector>

#include "graph/passes/place/placer.h"
#include "messages/schemas/worker.capnp.h"

namespace troupe {

void write(const std::vector<DeviceInfo>& devices, capnp::List<wire::Device>::Builder builder);
/// Fails with InvalidArgument if the name of a device cannot be read.
Result<std::vector<DeviceInfo>> read(capnp::List<wire::Device>::Reader reader);

}  // namespace troupe

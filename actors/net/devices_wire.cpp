#include "actors/net/devices_wire.h"

#include "messages/wire/wire.h"

namespace troupe {

void write(const std::vector<DeviceInfo>& devices, capnp::List<wire::Device>::Builder builder) {
  for (uint32_t i = 0; i < devices.size(); ++i) {
    builder[i].setName(as_text(devices[i].name.text()));
    builder[i].setIncarnation(devices[i].incarnation);
    builder[i].setMemory(devices[i].memory);
  }
}

Result<std::vector<DeviceInfo>> read(capnp::List<wire::Device>::Reader reader) {
  std::vector<DeviceInfo> devices;
  for (const auto device : reader) {
    TROUPE_ASSIGN(auto name, DeviceName::parse(view(device.getName())));
    devices.push_back({std::move(name), device.getIncarnation(), device.getMemory()});
  }
  return devices;
}

}  // namespace troupe

#include "apps/train/rounds/costs_wire.h"

#include "messages/wire/wire.h"

namespace troupe {
namespace {

void write(const observe::DeviceCosts& costs, wire::DeviceCosts::Builder to) {
  to.setDevice(as_text(costs.device));
  to.setStep(costs.step);
  to.setBetween(costs.between);
  to.setWaiting(costs.waiting);
  to.setOutside(costs.outside);
  auto ops = to.initOps(static_cast<uint32_t>(costs.ops.size()));
  for (uint32_t i = 0; i < costs.ops.size(); ++i) {
    ops[i].setOp(as_text(costs.ops[i].op));
    ops[i].setRuns(costs.ops[i].runs);
    ops[i].setTime(costs.ops[i].microseconds);
  }
}

observe::DeviceCosts read(wire::DeviceCosts::Reader from) {
  observe::DeviceCosts costs{std::string(view(from.getDevice())),
                             from.getStep(),
                             {},
                             from.getBetween(),
                             from.getWaiting(),
                             from.getOutside()};
  for (const auto op : from.getOps())
    costs.ops.push_back({std::string(view(op.getOp())), op.getRuns(), op.getTime()});
  return costs;
}

}  // namespace

void write(const std::vector<observe::DeviceCosts>& devices, capnp::List<wire::DeviceCosts>::Builder to) {
  for (uint32_t i = 0; i < devices.size(); ++i) write(devices[i], to[i]);
}

std::vector<observe::DeviceCosts> read(capnp::List<wire::DeviceCosts>::Reader from) {
  std::vector<observe::DeviceCosts> devices;
  for (const auto device : from) devices.push_back(read(device));
  return devices;
}

}  // namespace troupe

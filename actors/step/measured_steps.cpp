#include "actors/step/measured_steps.h"

#include "messages/schemas/worker.capnp.h"
#include "messages/values/device_name.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr int first_steps = 3, measured_steps = 4;

}  // namespace

bool MeasuredSteps::begins(const std::string& signature) {
  if (!enabled_) return false;
  const int number = ++counts_[signature].begun;
  return number > first_steps && number <= first_steps + measured_steps;
}

void MeasuredSteps::take(const AnyMessage& part) {
  for (const auto device : Message<wire::PartitionDone>(part)->getProfile()) {
    const auto name = DeviceName::parse(view(device.getDevice()));
    if (!name) continue;
    for (const auto node : device.getNodes())
      times_.add(std::string(view(node.getName())), name->type, static_cast<double>(node.getTime()) * 1e-9,
                 node.getRuns());
  }
}

bool MeasuredSteps::ended(const std::string& signature) {
  return ++counts_[signature].measured == measured_steps;
}

}  // namespace troupe

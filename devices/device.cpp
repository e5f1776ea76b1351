#include "devices/device.h"

namespace troupe {
namespace {

Status check(const Device& device, const Tensor& from, const Tensor& to) {
  if (from.dtype() != to.dtype() || !(from.shape() == to.shape()))
    return invalid_argument("a copy of " + from.signature() + " into " + to.signature());
  if (from.layout() != 0 || to.layout() != 0)
    return invalid_argument("a copy of " + from.signature() + " in an opaque layout");
  if (from.dtype() == DType::String && device.memory_kind() == MemoryKind::Device)
    return invalid_argument("Non-DMA-safe: " + from.signature() + " cannot be copied to or from a device");
  const auto reached = [&](const Tensor& tensor) {
    return device.holds(tensor) || tensor.memory() != MemoryKind::Device;
  };
  if (!reached(from) || !reached(to) || !(device.holds(from) || device.holds(to)))
    return internal("a copy of " + from.signature() + " between memories that the device does not reach");
  return {};
}

}  // namespace

Status check_copy(const Device& device, const Tensor& from, const Tensor& to) {
  return check(device, from, to).at_device(device.name().text());
}

}  // namespace troupe

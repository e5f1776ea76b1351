#include "devices/device.h"

namespace troupe {
namespace {

Status check(const Device& device, const Tensor& from, const Tensor& to) {
  if (from.dtype() != to.dtype() || !(from.shape() == to.shape()))
    return invalid_argument("cannot copy " + from.signature() + " to " + to.signature() +
                            ": dtype and shape must be equal");
  if (from.layout() != 0 || to.layout() != 0)
    return invalid_argument("cannot copy " + from.signature() +
                            ": it has a layout that is private to its kernel");
  if (from.dtype() == DType::String && device.memory_kind() == MemoryKind::Device)
    return invalid_argument("Non-DMA-safe: " + from.signature() + " cannot be copied to or from a device");
  const auto reached = [&](const Tensor& tensor) {
    return device.holds(tensor) || tensor.memory() != MemoryKind::Device;
  };
  const bool from_peer = device.type() == "GPU" && !reached(from) && device.holds(to);
  if (!from_peer && (!reached(from) || !reached(to) || !(device.holds(from) || device.holds(to))))
    return internal("cannot copy " + from.signature() + ": the device does not reach both memories");
  return {};
}

}  // namespace

Status check_copy(const Device& device, const Tensor& from, const Tensor& to) {
  return check(device, from, to).at_device(device.name().text());
}

}  // namespace troupe

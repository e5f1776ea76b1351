#include "devices/transfer.h"

namespace troupe {
namespace {

Result<Tensor> copied(const Tensor& from, Allocator& memory, Device& copier) {
  TROUPE_ASSIGN(Tensor to, Tensor::allocate(from.dtype(), from.shape(), memory));
  Completion done = copier.copy(from, to);
  if (done.ready() && !done.status().ok()) return done.status();
  to.set_completion(std::move(done));
  return to;
}

}  // namespace

Result<Tensor> transfer(const Tensor& from, Device& from_device, Device& to_device) {
  if (to_device.holds(from)) return from;
  Allocator& memory = to_device.context().memory();
  if (from.memory() != MemoryKind::Device) return copied(from, memory, to_device);
  if (to_device.memory_kind() != MemoryKind::Device) return copied(from, memory, from_device);
  if (to_device.type() == "GPU") return copied(from, memory, to_device);
  TROUPE_ASSIGN(const Tensor staged, to_host(from, from_device));
  return copied(staged, memory, to_device);
}

Result<Tensor> to_host(const Tensor& from, Device& from_device) {
  if (from.memory() != MemoryKind::Device) return from;
  return copied(from, from_device.context().host_memory(), from_device);
}

}  // namespace troupe

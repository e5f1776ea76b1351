// A GPU for tests on machines without one, in place of devices/no_gpus.cpp: programs that link this file have one GPU, whose
// kernels run on the host (kernels/gpu/launch.h). Its memory is memory of the host that only the device may use:
// MemoryKind::Device.
#include <cstring>

#include "devices/caching_allocator.h"
#include "devices/gpus.h"

namespace troupe {
namespace {

constexpr uint16_t emulated_ordinal = 1;

/// Marks memory of the host as that of a device.
class DeviceMemory final : public Allocator {
 public:
  explicit DeviceMemory(uint64_t cap) : memory_({.cap = cap}) {}

  Result<BufferRef> allocate(size_t bytes) override {
    TROUPE_ASSIGN(BufferRef host, memory_.allocate(bytes));
    auto* const buffer = new Marked;
    buffer->kind = MemoryKind::Device;
    buffer->device = emulated_ordinal;
    buffer->data = host->data;
    buffer->bytes = host->bytes;
    buffer->host = std::move(host);
    buffer->release = [](Buffer* self) { delete static_cast<Marked*>(self); };
    return BufferRef::adopt(buffer);
  }
  MemoryStatistics statistics() const { return memory_.statistics(); }

 private:
  struct Marked : Buffer {
    BufferRef host;
  };
  CachingAllocator memory_;
};

class EmulatedGpu final : public Device {
 public:
  EmulatedGpu(DeviceName name, uint64_t incarnation, Pool& pool, uint64_t cap)
      : name_(std::move(name)), incarnation_(incarnation), memory_(cap),
        context_(memory_, heap_allocator(), pool) {}

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return "GPU"; }
  uint64_t incarnation() const override { return incarnation_; }
  MemoryKind memory_kind() const override { return MemoryKind::Device; }
  uint16_t ordinal() const override { return emulated_ordinal; }
  MemoryStatistics memory_statistics() const override { return memory_.statistics(); }
  DeviceContext& context() override { return context_; }
  bool in_order() const override { return true; }
  Completion run(std::function<Status(DeviceContext&)> work) override { return Completion(work(context_)); }
  Completion copy(const Tensor& from, Tensor& to) override {
    if (Status valid = check_copy(*this, from, to); !valid.ok()) return Completion(std::move(valid));
    std::memcpy(to.mutable_data(), from.data(), from.bytes());
    return {};
  }

 private:
  const DeviceName name_;
  const uint64_t incarnation_;
  DeviceMemory memory_;
  DeviceContext context_;
};

}  // namespace

Result<int> count_gpus() { return 1; }

Result<std::shared_ptr<Device>> make_gpu(DeviceName name, uint64_t incarnation, Pool& pool,
                                         const GpuOptions& options) {
  const uint64_t cap = options.memory_cap != 0 ? options.memory_cap : uint64_t{1} << 34;
  return std::shared_ptr<Device>(std::make_shared<EmulatedGpu>(std::move(name), incarnation, pool, cap));
}

}  // namespace troupe

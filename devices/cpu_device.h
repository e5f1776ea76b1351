// CpuDevice: the processor and memory of the host as a Device. Owned by the runtime; any thread may call every function. Work
// and copies run at once, on the calling thread; copies above 64 KiB are shared with the pool. Buffers may outlive the device.
#pragma once

#include <cstdint>

#include "devices/caching_allocator.h"
#include "devices/device.h"

namespace troupe {

class CpuDevice final : public Device {
 public:
  /// `pool` must outlive the device. `budget` may be null.
  CpuDevice(DeviceName name, uint64_t incarnation, Pool& pool, Arena::Options memory = {},
            std::shared_ptr<MemoryBudget> budget = nullptr);

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return "CPU"; }
  uint64_t incarnation() const override { return incarnation_; }
  MemoryKind memory_kind() const override { return MemoryKind::Host; }
  uint16_t ordinal() const override { return 0; }
  MemoryStatistics memory_statistics() const override { return memory_.statistics(); }
  DeviceContext& context() override { return context_; }
  bool in_order() const override { return true; }
  Completion run(std::function<Status(DeviceContext&)> work) override;
  /// If `from` is still under computation, the copy happens when it is complete: on the thread that completes it, or on the pool if
  /// the tensor has more than 64 KiB.
  Completion copy(const Tensor& from, Tensor& to) override;

 private:
  DeviceName name_;
  uint64_t incarnation_;
  CachingAllocator memory_;
  DeviceContext context_;
};

}  // namespace troupe

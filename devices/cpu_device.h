// CpuDevice: the host's processor and memory as a Device. Owned by the runtime; every function may be called
// from any thread. Work and copies are executed at once, on the caller; copies above 64 KiB are shared over
// the pool. Its buffers may outlive it.
#pragma once

#include <cstdint>

#include "devices/caching_allocator.h"
#include "devices/device.h"

namespace troupe {

class CpuDevice final : public Device {
 public:
  /// `pool` must outlive the device.
  CpuDevice(DeviceName name, uint64_t incarnation, Pool& pool, Arena::Options memory = {},
            std::shared_ptr<MemoryBudget> budget = nullptr);

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return "CPU"; }
  uint64_t incarnation() const override { return incarnation_; }
  MemoryKind memory_kind() const override { return MemoryKind::Host; }
  uint16_t ordinal() const override { return 0; }
  MemoryStatistics memory_statistics() const override { return memory_.statistics(); }
  DeviceContext& context() override { return context_; }
  bool synchronous() const override { return true; }
  Completion run(std::function<Status(DeviceContext&)> work) override;
  /// From a tensor still in the making the copy happens when it is ready: on the thread that completes it, or
  /// above 64 KiB on the pool.
  Completion copy(const Tensor& from, Tensor& to) override;

 private:
  DeviceName name_;
  uint64_t incarnation_;
  CachingAllocator memory_;
  DeviceContext context_;
};

}  // namespace troupe

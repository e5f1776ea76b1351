// CpuDevice: the host's processor and memory as a Device. Owned by the runtime; every function may be called
// from any thread. run() and copies execute at once, on the caller; copies above 64 KiB are shared over the
// pool.
#pragma once

#include <cstdint>
#include <memory>

#include "devices/device.h"

namespace troupe {

class CpuDevice final : public Device {
 public:
  /// `pool` must outlive the device.
  CpuDevice(DeviceName name, uint64_t incarnation, Pool& pool);
  ~CpuDevice() override;

  const DeviceName& name() const override { return name_; }
  std::string_view type() const override { return "CPU"; }
  uint64_t incarnation() const override { return incarnation_; }
  MemoryKind memory_kind() const override { return MemoryKind::Host; }
  uint16_t ordinal() const override { return 0; }
  MemoryStatistics memory_statistics() const override { return {}; }
  DeviceContext& context() override { return context_; }
  Completion run(std::function<Status(DeviceContext&)> work) override;
  Completion copy(const Tensor& from, Tensor& to) override;

 private:
  DeviceName name_;
  uint64_t incarnation_;
  DeviceContext context_;
};

}  // namespace troupe

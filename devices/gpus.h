// The GPUs of this machine, for programs built with TROUPE_CUDA. Free functions; any thread may call them.
#pragma once

#include <memory>
#include <vector>

#include "devices/device.h"
#include "devices/shared_arenas.h"

namespace troupe {

struct GpuOptions {
  int index = 0;            ///< the number of the GPU among those that CUDA_VISIBLE_DEVICES leaves visible
  uint64_t memory_cap = 0;  ///< bytes; 0: an equal share of 95 % of what is free when the device is made
  int sharers = 1;          ///< how many tasks share the GPU, including this one
  /// The numbers of the other GPUs of the task, which copy from the memory of this one without the host where the machine allows
  /// it.
  std::vector<int> peers = {};
  /// If set, the memory of the GPU enters itself here, so that GPUs of other processes may copy from it.
  std::shared_ptr<SharedArenas> shared = {};
  bool tf32 = false;  ///< whether products and convolutions of float may round their factors to TF32
};

/// Returns how many GPUs this process can use. Fails with Unavailable, in one line, if the program was built without CUDA, or the
/// driver is missing or too old.
Result<int> count_gpus();
/// Fails with Unavailable if there is no such GPU or it cannot be used, and with ResourceExhausted if it has no memory left.
/// `pool` must outlive the device.
Result<std::shared_ptr<Device>> make_gpu(DeviceName name, uint64_t incarnation, Pool& pool,
                                         const GpuOptions& options);

}  // namespace troupe

// Kernels of devices with memory of their own whose work goes on with a small result of the device: the size of an output (Where),
// or whether a value is wrong (CheckNumerics). Whoever runs such a kernel copies the result to the host between the parts of its
// work.
#pragma once

#include "kernels/core/kernel.h"

namespace troupe {

class ReadBackWork : public DeviceWork {
 public:
  /// Returns what next() reads on the host: a tensor in the memory of the device, which compute() fills. Before next() is called,
  /// the caller must replace it by a copy in host memory.
  virtual Tensor& result() = 0;
};

/// A kernel whose check() returns a ReadBackWork.
class ReadBackKernel : public Kernel {
 public:
  /// Fails with Internal: the parts of the work are run one by one.
  Status run(KernelContext& context) const final;
};

}  // namespace troupe

// Kernels of GPUs that measure first: the host reads a result of the GPU before it allocates the outputs.
#pragma once

#include <string>
#include <utility>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/read_back.h"

namespace troupe {
namespace detail {

template <class Functions>
class ReadBackMeasureWork final : public MeasureWork<Functions, ReadBackWork> {
 public:
  using MeasureWork<Functions, ReadBackWork>::MeasureWork;
  Tensor& result() override { return this->arguments_.measured; }
};

template <class Functions>
class ReadBackGpuKernel final : public ReadBackKernel {
 public:
  explicit ReadBackGpuKernel(Functions functions) : functions_(std::move(functions)) {}

  Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const override {
    TROUPE_ASSIGN(auto arguments, functions_.check(context));
    return std::unique_ptr<DeviceWork>(
        std::make_unique<ReadBackMeasureWork<Functions>>(std::move(arguments), functions_));
  }

 private:
  const Functions functions_;
};

}  // namespace detail

/// Returns a kernel of GPUs as make_measured_kernel() does, for arguments with a member `measured`: a tensor in the memory of the
/// device, allocated by the check, which `measure` fills and `allocate` reads on the host.
template <class Check, class Measure, class Allocate, class Compute>
KernelDef measured_gpu_kernel(std::string op, Check check, Measure measure, Allocate allocate,
                              Compute compute) {
  return kernel_on("GPU", std::move(op), [=](const PrepareContext&) {
    using Functions = detail::MeasuredFunctions<Check, Measure, Allocate, Compute>;
    return Result<std::unique_ptr<Kernel>>(
        std::make_unique<detail::ReadBackGpuKernel<Functions>>(Functions{check, measure, allocate, compute}));
  });
}

}  // namespace troupe

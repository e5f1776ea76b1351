// Kernels of GPUs that measure first: the host reads a result of the GPU before it allocates the outputs.
#pragma once

#include <string>
#include <utility>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/read_back.h"

namespace troupe {
namespace detail {

template <class Check, class Measure, class Allocate, class Compute>
class ReadBackGpuKernel final : public ReadBackKernel {
 public:
  using Arguments = ArgumentsOf<Check>;

  ReadBackGpuKernel(Check checks, Measure measures, Allocate allocates, Compute computes)
      : check_(std::move(checks)), measure_(std::move(measures)), allocate_(std::move(allocates)),
        compute_(std::move(computes)) {}

  Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const override {
    TROUPE_ASSIGN(auto arguments, check_(context));
    return std::unique_ptr<DeviceWork>(std::make_unique<MeasureWork>(std::move(arguments), *this));
  }

 private:
  class MeasureWork final : public ReadBackWork {
   public:
    MeasureWork(Arguments arguments, const ReadBackGpuKernel& kernel)
        : arguments_(std::move(arguments)), kernel_(kernel) {}
    Status compute(DeviceContext& device) override { return status_of(kernel_.measure_, arguments_, device); }
    Tensor& result() override { return arguments_.measured; }
    Result<std::unique_ptr<DeviceWork>> next(KernelContext& context) override {
      TROUPE_RETURN_IF_FAILED(kernel_.allocate_(arguments_, context));
      if (leaves_out(kernel_.compute_, arguments_, context)) return std::unique_ptr<DeviceWork>();
      return std::unique_ptr<DeviceWork>(
          std::make_unique<ComputeWork<Arguments, Compute>>(std::move(arguments_), kernel_.compute_));
    }

   private:
    Arguments arguments_;
    const ReadBackGpuKernel& kernel_;
  };

  const Check check_;
  const Measure measure_;
  const Allocate allocate_;
  const Compute compute_;
};

}  // namespace detail

/// Returns a kernel of GPUs as make_measured_kernel() does, for arguments with a member `measured`: a tensor in the memory of the
/// device, allocated by the check, which `measure` fills and `allocate` reads on the host.
template <class Check, class Measure, class Allocate, class Compute>
KernelDef measured_gpu_kernel(std::string op, Check check, Measure measure, Allocate allocate,
                              Compute compute) {
  return kernel_on("GPU", std::move(op), [=](const PrepareContext&) {
    using Kernels = detail::ReadBackGpuKernel<Check, Measure, Allocate, Compute>;
    return Result<std::unique_ptr<Kernel>>(std::make_unique<Kernels>(check, measure, allocate, compute));
  });
}

}  // namespace troupe

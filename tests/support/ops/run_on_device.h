// Runs one op on a device with memory of its own: a DelayedDevice, or a GPU. One thread.
#pragma once

#include "tests/support/ops/op_case.h"

namespace troupe::test {

/// The device on which a sample runs.
struct OpDevice {
  std::shared_ptr<const OpLibrary> library;
  Device& device;
  std::function<void()> advance;  ///< makes the device do what was issued; empty if it does so by itself
};

/// Returns the outputs, copied to the host.
Result<std::vector<Tensor>> run_on_device(const OpDevice& where, const OpCase& sample);
/// Runs the kernel that the library has for this type of device, with inputs that nobody else holds, so that it may write its
/// output over them.
Result<std::vector<Tensor>> run_kernel(const OpLibrary& library, std::string_view device_type,
                                       const SingleOp& op, std::vector<Tensor> inputs, DeviceContext& device);
/// Runs the sample on a DelayedDevice for kernels of this type, to whose memory nothing but the kernels' work has access.
Result<std::vector<Tensor>> run_delayed(const std::shared_ptr<const OpLibrary>& library,
                                        const std::string& device_type, const OpCase& sample);

/// If the op has a kernel for GPUs, checks through Boost.Test that its outputs are those of the CPU, but for rounding: with the
/// kernel run on the host, and on the GPU of this machine if there is one.
void check_on_gpu(const OpCase& sample, const std::vector<Tensor>& expected);
/// If the op has a kernel for GPUs, checks that it refuses the sample with this text.
void check_refused_on_gpu(const BadCase& bad);

}  // namespace troupe::test

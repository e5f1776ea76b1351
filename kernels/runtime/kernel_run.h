// KernelRun: a kernel at work while its step goes on. It keeps the inputs, which the kernel reads, and the outputs until the work has
// ended. Belongs to the StepContext, which uses it again; between start and end only the device's work touches it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/runtime/prepared_plan.h"

namespace troupe {

struct KernelRun {
  std::vector<Slot> inputs;
  std::vector<Tensor> outputs;
  StepInfo step;
  std::optional<KernelContext> context;  ///< of the above
  std::unique_ptr<DeviceWork> work;
};

/// The result of `kernel_code`, which returns a Status or a Result; what it throws becomes a failure.
template <class Function>
auto call_guarded(const Function& kernel_code) -> decltype(kernel_code()) {
  try {
    return kernel_code();
  } catch (const std::bad_alloc&) {
    return resource_exhausted("the kernel ran out of memory");
  } catch (const std::exception& error) {
    return internal(std::string("the kernel threw an exception: ") + error.what());
  } catch (...) {
    return internal("the kernel threw an object that is not a std::exception");
  }
}

}  // namespace troupe

// KernelRun: one execution of a kernel while the step that started it goes on. It keeps the inputs that the kernel reads, and
// the outputs, until the work has ended. It belongs to the StepContext, which uses it again later; between start and end only
// the work on the device uses it.
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
  std::optional<KernelContext> context;  ///< refers to the members above
  std::unique_ptr<DeviceWork> work;
  Tensor read_back;  ///< of a ReadBackWork: the result, copied to the host
};

/// Returns the result of `kernel_code`, a Status or a Result; an exception becomes a failure.
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

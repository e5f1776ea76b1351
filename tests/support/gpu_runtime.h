// Runtimes with a GPU for tests: a real one, or one whose kernels run on the host (emulated_gpu.cpp).
#pragma once

#include <string_view>

#include "actors/runtime.h"
#include "devices/gpus.h"
#include "kernels/gpu/all_gpu_kernels.h"

namespace troupe::test {

/// Returns whether this process has a GPU of either kind.
inline bool has_gpu() {
  const auto count = count_gpus();
  return count && *count > 0;
}

/// Returns options for a runtime with `gpus` GPUs.
inline RuntimeOptions with_gpus(int gpus) {
  RuntimeOptions options{.threads = 2, .tasks = {{.gpus = gpus}}};
  const auto library = make_op_library();
  const auto kernels = library->kernels.of("AddN");
  const bool built_in = std::ranges::any_of(
      kernels, [](const KernelDef& kernel) { return kernel.device_type == std::string_view("GPU"); });
  if (!built_in) options.extensions.ops = add_gpu_kernels;
  return options;
}

}  // namespace troupe::test

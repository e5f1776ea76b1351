// Runtimes with a GPU for tests: a real one, or one whose kernels run on the host (emulated_gpu.cpp).
#pragma once

#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string_view>

#include "actors/runtime.h"
#include "devices/gpus.h"
#include "kernels/gpu/all_gpu_kernels.h"

namespace troupe::test {

/// Returns whether this process has so many GPUs of either kind, and prints that the suite is skipped if it does not.
inline bool finds_gpus(int wanted, boost::unit_test::test_unit_id suite) {
  const auto count = count_gpus();
  if (count && *count >= wanted) return true;
  std::cout << boost::unit_test::framework::get<boost::unit_test::test_suite>(suite).p_name.get()
            << " is skipped: it needs " << wanted << " GPUs, and this process has " << (count ? *count : 0)
            << '\n';
  return false;
}
/// A precondition of suites.
inline bool needs_gpu(boost::unit_test::test_unit_id suite) { return finds_gpus(1, suite); }

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

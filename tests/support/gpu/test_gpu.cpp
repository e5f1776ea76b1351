#include "tests/support/gpu/test_gpu.h"

#include <iostream>

#include "devices/gpus.h"

namespace troupe::test {
namespace {

std::shared_ptr<Device> first_gpu() {
  static InlinePool pool;
  auto gpu = make_gpu({"test", 0, 0, "GPU", 0}, 1, pool, {});
  if (gpu) return *gpu;
  std::cerr << "No kernel runs on a GPU: " << gpu.status().message() << '\n';
  return nullptr;
}

}  // namespace

Device* test_gpu() {
  static const std::shared_ptr<Device> gpu = first_gpu();
  return gpu.get();
}

}  // namespace troupe::test

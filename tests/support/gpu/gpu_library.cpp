#include "tests/support/gpu/gpu_library.h"

#include "kernels/gpu/all_gpu_kernels.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {

std::shared_ptr<const OpLibrary> gpu_library() {
#if defined(TROUPE_CUDA)
  return op_library();
#else
  static const auto library = make_op_library(add_gpu_kernels);
  return library;
#endif
}

}  // namespace troupe::test

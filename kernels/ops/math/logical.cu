// Logic on bool tensors on GPUs: see logical.cpp.
#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {

void add_logical_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("LogicalAnd", BinaryCheck{}, gpu::compute_binary<gpu::And, bool>));
  library.kernel(gpu_kernel("LogicalNot", check_unary, gpu::compute_unary<gpu::Not, bool>));
  library.kernel(gpu_kernel("LogicalOr", BinaryCheck{}, gpu::compute_binary<gpu::Or, bool>));
}

}  // namespace troupe

// Products and quotients in which a zero decides, on GPUs: see zero_safe.cpp.
#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {

void add_zero_safe_on_gpu(OpLibrary& library) {
  constexpr gpu::AllFloats types;
  gpu::add_binary<gpu::MulNoNan>(library, "MulNoNan", types);
  gpu::add_binary<gpu::Xdivy>(library, "Xdivy", types);
  gpu::add_binary<gpu::Xlog1py>(library, "Xlog1py", types);
  gpu::add_binary<gpu::Xlogy>(library, "Xlogy", types);
}

}  // namespace troupe

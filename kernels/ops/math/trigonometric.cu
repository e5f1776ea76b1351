// Trigonometric and hyperbolic functions on GPUs: see trigonometric.cpp.
#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {

void add_trigonometric_on_gpu(OpLibrary& library) {
  constexpr gpu::AllFloats types;
  gpu::add_unary<gpu::Acos>(library, "Acos", types);
  gpu::add_unary<gpu::Acosh>(library, "Acosh", types);
  gpu::add_unary<gpu::Asin>(library, "Asin", types);
  gpu::add_unary<gpu::Asinh>(library, "Asinh", types);
  gpu::add_unary<gpu::Atan>(library, "Atan", types);
  gpu::add_unary<gpu::Atanh>(library, "Atanh", types);
  gpu::add_unary<gpu::Cosh>(library, "Cosh", types);
  gpu::add_unary<gpu::Sinh>(library, "Sinh", types);
  gpu::add_unary<gpu::Tan>(library, "Tan", types);
}

}  // namespace troupe

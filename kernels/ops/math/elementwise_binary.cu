// Arithmetic on two tensors on GPUs: see elementwise_binary.cpp.
#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {

void add_elementwise_binary_on_gpu(OpLibrary& library) {
  constexpr gpu::AllFloats types;
  gpu::add_binary<gpu::Add>(library, "Add", types);
  gpu::add_binary<gpu::Add>(library, "AddV2", types);
  gpu::add_binary<gpu::Atan2>(library, "Atan2", types);
  gpu::add_binary<gpu::Div>(library, "Div", types);
  gpu::add_binary<gpu::Div>(library, "RealDiv", types);
  gpu::add_binary<gpu::DivNoNan>(library, "DivNoNan", types);
  gpu::add_binary<gpu::FloorDiv>(library, "FloorDiv", types);
  gpu::add_binary<gpu::FloorMod>(library, "FloorMod", types);
  gpu::add_binary<gpu::Maximum>(library, "Maximum", types);
  gpu::add_binary<gpu::Minimum>(library, "Minimum", types);
  gpu::add_binary<gpu::Mod>(library, "Mod", types);
  gpu::add_binary<gpu::Mod>(library, "TruncateMod", types);
  gpu::add_binary<gpu::Mul>(library, "Mul", types);
  gpu::add_binary<gpu::Pow>(library, "Pow", types);
  gpu::add_binary<gpu::SquaredDifference>(library, "SquaredDifference", types);
  gpu::add_binary<gpu::Sub>(library, "Sub", types);
  gpu::add_binary<gpu::TruncateDiv>(library, "TruncateDiv", types);
}

}  // namespace troupe

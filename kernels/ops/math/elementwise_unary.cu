// Functions of one tensor on GPUs: see elementwise_unary.cpp.
#include "kernels/gpu/elementwise.h"
#include "kernels/gpu/functions.h"

namespace troupe {

void add_elementwise_unary_on_gpu(OpLibrary& library) {
  constexpr gpu::AllFloats types;
  gpu::add_unary<gpu::Abs>(library, "Abs", types);
  gpu::add_unary<gpu::Ceil>(library, "Ceil", types);
  gpu::add_unary<gpu::Cos>(library, "Cos", types);
  gpu::add_unary<gpu::Erf>(library, "Erf", types);
  gpu::add_unary<gpu::Erfc>(library, "Erfc", types);
  gpu::add_unary<gpu::Exp>(library, "Exp", types);
  gpu::add_unary<gpu::Expm1>(library, "Expm1", types);
  gpu::add_unary<gpu::Floor>(library, "Floor", types);
  gpu::add_unary<gpu::IsFinite>(library, "IsFinite", types);
  gpu::add_unary<gpu::IsInf>(library, "IsInf", types);
  gpu::add_unary<gpu::IsNan>(library, "IsNan", types);
  gpu::add_unary<gpu::Log>(library, "Log", types);
  gpu::add_unary<gpu::Log1p>(library, "Log1p", types);
  gpu::add_unary<gpu::Neg>(library, "Neg", types);
  gpu::add_unary<gpu::Reciprocal>(library, "Inv", types);
  gpu::add_unary<gpu::Reciprocal>(library, "Reciprocal", types);
  gpu::add_unary<gpu::Round>(library, "Rint", types);
  gpu::add_unary<gpu::Round>(library, "Round", types);
  gpu::add_unary<gpu::Rsqrt>(library, "Rsqrt", types);
  gpu::add_unary<gpu::Sign>(library, "Sign", types);
  gpu::add_unary<gpu::Sin>(library, "Sin", types);
  gpu::add_unary<gpu::Sqrt>(library, "Sqrt", types);
  gpu::add_unary<gpu::Square>(library, "Square", types);
  gpu::add_paired<gpu::ReciprocalGrad>(library, "InvGrad", types);
  gpu::add_paired<gpu::ReciprocalGrad>(library, "ReciprocalGrad", types);
  gpu::add_paired<gpu::RsqrtGrad>(library, "RsqrtGrad", types);
  gpu::add_paired<gpu::SqrtGrad>(library, "SqrtGrad", types);
}

}  // namespace troupe

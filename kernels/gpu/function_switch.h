// Calls a functor of functions.h by the name of its function: for kernels that interpret programs. Functions without state.
#pragma once

#include "kernels/gpu/functions.h"
#include "kernels/loops/vector_loops.h"

namespace troupe::gpu {

/// Call run(functor). Functions that fused programs do not contain, such as Pow, are left out.
template <class Run>
TROUPE_ANY void with_function(VectorUnary function, const Run& run) {
  switch (function) {
    case VectorUnary::Abs: return run(Abs());
    case VectorUnary::Ceil: return run(Ceil());
    case VectorUnary::Cos: return run(Cos());
    case VectorUnary::Elu: return run(Elu());
    case VectorUnary::Erf: return run(Erf());
    case VectorUnary::Exp: return run(Exp());
    case VectorUnary::Expm1: return run(Expm1());
    case VectorUnary::Floor: return run(Floor());
    case VectorUnary::Log: return run(Log());
    case VectorUnary::Log1p: return run(Log1p());
    case VectorUnary::Neg: return run(Neg());
    case VectorUnary::Reciprocal: return run(Reciprocal());
    case VectorUnary::Relu: return run(Relu());
    case VectorUnary::Relu6: return run(Relu6());
    case VectorUnary::Round: return run(Round());
    case VectorUnary::Rsqrt: return run(Rsqrt());
    case VectorUnary::Selu: return run(Selu());
    case VectorUnary::Sigmoid: return run(Sigmoid());
    case VectorUnary::Sign: return run(Sign());
    case VectorUnary::Sin: return run(Sin());
    case VectorUnary::Softplus: return run(Softplus());
    case VectorUnary::Softsign: return run(Softsign());
    case VectorUnary::Sqrt: return run(Sqrt());
    case VectorUnary::Square: return run(Square());
    case VectorUnary::Tanh: return run(Tanh());
  }
}
template <class Run>
TROUPE_ANY void with_function(VectorBinary function, const Run& run) {
  switch (function) {
    case VectorBinary::Add: return run(Add());
    case VectorBinary::Div: return run(Div());
    case VectorBinary::EluGrad: return run(EluGrad());
    case VectorBinary::Maximum: return run(Maximum());
    case VectorBinary::Minimum: return run(Minimum());
    case VectorBinary::Mul: return run(Mul());
    case VectorBinary::ReciprocalGrad: return run(ReciprocalGrad());
    case VectorBinary::Relu6Grad: return run(Relu6Grad());
    case VectorBinary::ReluGrad: return run(ReluGrad());
    case VectorBinary::RsqrtGrad: return run(RsqrtGrad());
    case VectorBinary::SeluGrad: return run(SeluGrad());
    case VectorBinary::SigmoidGrad: return run(SigmoidGrad());
    case VectorBinary::SoftplusGrad: return run(SoftplusGrad());
    case VectorBinary::SoftsignGrad: return run(SoftsignGrad());
    case VectorBinary::SqrtGrad: return run(SqrtGrad());
    case VectorBinary::SquaredDifference: return run(SquaredDifference());
    case VectorBinary::Sub: return run(Sub());
    case VectorBinary::TanhGrad: return run(TanhGrad());
    default: return;
  }
}

}  // namespace troupe::gpu

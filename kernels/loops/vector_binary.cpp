#include "kernels/loops/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_binary.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

template <class D>
HWY_INLINE Vector<D> constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

// One functor for each function: apply() returns its value for two vectors.
struct Add {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::Add(a, b);
  }
};
struct Sub {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::Sub(a, b);
  }
};
struct Mul {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::Mul(a, b);
  }
};
struct Div {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::Div(a, b);
  }
};
struct Maximum {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> a, Vector<D> b) {
    return maximum(d, a, b);
  }
};
struct Minimum {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> a, Vector<D> b) {
    return minimum(d, a, b);
  }
};
struct SquaredDifference {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    const auto difference = hn::Sub(a, b);
    return hn::Mul(difference, difference);
  }
};
struct FloorDiv {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return floor(hn::Div(a, b));
  }
};
struct FloorMod {  // with the sign of b
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> a, Vector<D> b) {
    const auto rest = truncated_mod(d, a, b), zero = hn::Zero(d);
    const auto differs = hn::Xor(hn::Lt(rest, zero), hn::Lt(b, zero));
    return hn::IfThenElse(hn::And(hn::Ne(rest, zero), differs), hn::Add(rest, b), rest);
  }
};
struct Mod {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> a, Vector<D> b) {
    return truncated_mod(d, a, b);
  }
};
struct Pow {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> a, Vector<D> b) {
    return pow(d, a, b);
  }
};
struct EluGrad {  // dy (y + 1) where y < 0, dy elsewhere
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> dy, Vector<D> y) {
    return hn::IfThenElse(hn::Lt(y, hn::Zero(d)), hn::Mul(dy, hn::Add(y, constant(d, 1))), dy);
  }
};
struct SeluGrad {  // dy (y + scale alpha) where y < 0, scale dy elsewhere
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> dy, Vector<D> y) {
    const auto below = hn::Add(y, constant(d, selu_scale_alpha));
    return hn::Mul(dy, hn::IfThenElse(hn::Lt(y, hn::Zero(d)), below, constant(d, selu_scale)));
  }
};
struct ReciprocalGrad {  // -dy y^2, and 0 where dy is 0, even if y is infinite
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> y, Vector<D> dy) {
    return hn::IfThenZeroElse(hn::Eq(dy, hn::Zero(d)), hn::Mul(hn::Neg(dy), hn::Mul(y, y)));
  }
};
struct Relu6Grad {  // dy where 0 < x < 6
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> dy, Vector<D> x) {
    return hn::IfThenElseZero(hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, constant(d, 6))), dy);
  }
};
struct ReluGrad {  // dy where x > 0
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> dy, Vector<D> x) {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), dy);
  }
};
struct RsqrtGrad {  // -dy y^3 / 2, and 0 where dy is 0, even if y is infinite
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> y, Vector<D> dy) {
    const auto gradient = hn::Mul(hn::Mul(constant(d, -0.5), dy), hn::Mul(y, hn::Mul(y, y)));
    return hn::IfThenZeroElse(hn::Eq(dy, hn::Zero(d)), gradient);
  }
};
struct SigmoidGrad {  // dy y (1 - y)
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> y, Vector<D> dy) {
    return hn::Mul(dy, hn::Mul(y, hn::Sub(constant(d, 1), y)));
  }
};
struct SoftplusGrad {  // dy sigmoid(x)
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> dy, Vector<D> x) {
    return hn::Mul(dy, sigmoid(d, x));
  }
};
struct SoftsignGrad {  // dy / (1 + |x|)^2
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> dy, Vector<D> x) {
    const auto distance = hn::Add(constant(d, 1), hn::Abs(x));
    return hn::Div(dy, hn::Mul(distance, distance));
  }
};
struct SqrtGrad {  // dy / (2 y), and 0 where dy is 0, even if y is 0
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> y, Vector<D> dy) {
    return hn::IfThenZeroElse(hn::Eq(dy, hn::Zero(d)), hn::Div(hn::Mul(constant(d, 0.5), dy), y));
  }
};
struct TanhGrad {  // dy (1 - y^2)
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> y, Vector<D> dy) {
    return hn::Mul(dy, hn::Sub(constant(d, 1), hn::Mul(y, y)));
  }
};

template <class Function, class T>
HWY_INLINE void binary_steps(const T* a, size_t step_a, const T* b, size_t step_b, T* out, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  // A scalar is read once, before the output is written, because both may be the same memory.
  const auto scalar_a = hn::Set(d, *a), scalar_b = hn::Set(d, *b);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto va = step_a == 0 ? scalar_a : hn::LoadU(d, a + i);
    const auto vb = step_b == 0 ? scalar_b : hn::LoadU(d, b + i);
    hn::StoreU(Function::apply(d, va, vb), d, out + i);
  }
  if (i == n) return;
  const auto va = step_a == 0 ? scalar_a : load_first(d, a + i, n - i);
  const auto vb = step_b == 0 ? scalar_b : load_first(d, b + i, n - i);
  store_first(Function::apply(d, va, vb), d, out + i, n - i);
}

template <class Function, class T>
void binary_loop(const void* left, size_t step_a, const void* right, size_t step_b, void* output, size_t n) {
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  T* out = static_cast<T*>(output);
  if (n == 1) {  // scalars are frequent: they use one lane and no mask
    const hn::CappedTag<T, 1> one;
    hn::StoreU(Function::apply(one, hn::LoadU(one, a), hn::LoadU(one, b)), one, out);
  } else if (step_a == step_b) {
    if (n != 0) binary_steps<Function>(a, 1, b, 1, out, n);
  } else if (step_a == 0) {
    if (n != 0) binary_steps<Function>(a, 0, b, 1, out, n);
  } else if (n != 0) {
    binary_steps<Function>(a, 1, b, 0, out, n);
  }
}

template <class T>
BinaryLoop binary_loop_of(VectorBinary function) {
  switch (function) {
    case VectorBinary::Add: return binary_loop<Add, T>;
    case VectorBinary::Sub: return binary_loop<Sub, T>;
    case VectorBinary::Mul: return binary_loop<Mul, T>;
    case VectorBinary::Div: return binary_loop<Div, T>;
    case VectorBinary::Maximum: return binary_loop<Maximum, T>;
    case VectorBinary::Minimum: return binary_loop<Minimum, T>;
    case VectorBinary::FloorDiv: return binary_loop<FloorDiv, T>;
    case VectorBinary::FloorMod: return binary_loop<FloorMod, T>;
    case VectorBinary::Mod: return binary_loop<Mod, T>;
    case VectorBinary::Pow:
      if constexpr (std::is_same_v<T, float>) return binary_loop<Pow, T>;
      return nullptr;
    case VectorBinary::SquaredDifference: return binary_loop<SquaredDifference, T>;
    case VectorBinary::EluGrad: return binary_loop<EluGrad, T>;
    case VectorBinary::SeluGrad: return binary_loop<SeluGrad, T>;
    case VectorBinary::ReciprocalGrad: return binary_loop<ReciprocalGrad, T>;
    case VectorBinary::Relu6Grad: return binary_loop<Relu6Grad, T>;
    case VectorBinary::ReluGrad: return binary_loop<ReluGrad, T>;
    case VectorBinary::RsqrtGrad: return binary_loop<RsqrtGrad, T>;
    case VectorBinary::SigmoidGrad: return binary_loop<SigmoidGrad, T>;
    case VectorBinary::SoftplusGrad: return binary_loop<SoftplusGrad, T>;
    case VectorBinary::SoftsignGrad: return binary_loop<SoftsignGrad, T>;
    case VectorBinary::SqrtGrad: return binary_loop<SqrtGrad, T>;
    case VectorBinary::TanhGrad: return binary_loop<TanhGrad, T>;
  }
  return nullptr;
}

BinaryLoop binary_loop_for(VectorBinary function, DType dtype) {
  if (dtype == DType::Float) return binary_loop_of<float>(function);
  return dtype == DType::Double ? binary_loop_of<double>(function) : nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(binary_loop_for);

BinaryLoop vector_loop(VectorBinary function, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(binary_loop_for)(function, dtype);
}

}  // namespace troupe
#endif

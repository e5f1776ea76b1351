#include "kernels/loops/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_unary.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

template <class D>
HWY_INLINE Vector<D> constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

// One functor for each function: apply() returns its value for a vector.
struct Abs {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> x) {
    return hn::Abs(x);
  }
};
struct Ceil {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> x) {
    return ceil(x);
  }
};
struct Elu {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    const auto negative = hn::Lt(x, hn::Zero(d));
    return hn::AllFalse(d, negative) ? x : hn::IfThenElse(negative, hn::Expm1(d, x), x);
  }
};
struct Selu {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(constant(d, selu_scale_alpha), expm1(d, x)),
                          hn::Mul(constant(d, selu_scale), x));
  }
};
struct Erf {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return erf(d, x);
  }
};
struct Exp {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return exp(d, x);
  }
};
struct Expm1 {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return expm1(d, x);
  }
};
struct Floor {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> x) {
    return floor(x);
  }
};
struct Log {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return log(d, x);
  }
};
struct Log1p {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return log1p(d, x);
  }
};
struct Neg {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> x) {
    return hn::Neg(x);
  }
};
struct Reciprocal {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return hn::Div(constant(d, 1), x);
  }
};
struct Relu {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
  }
};
struct Relu6 {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return hn::IfThenElse(hn::Gt(x, constant(d, 6)), constant(d, 6), Relu::apply(d, x));
  }
};
struct Round {  // rounds halves to even
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> x) {
    return round_to_even(x);
  }
};
struct Rsqrt {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return hn::Div(constant(d, 1), hn::Sqrt(x));
  }
};
struct Sigmoid {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return sigmoid(d, x);
  }
};
/// The vector code of sine and cosine is accurate up to this limit; larger elements are computed one by one.
constexpr double angle_limit = 39000;

template <class D, class Vectors, class Scalar>
HWY_INLINE Vector<D> of_angle(D d, Vector<D> x, const Vectors& vectors, const Scalar& scalar) {
  if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), constant(d, angle_limit))))) return vectors(d, x);
  HWY_ALIGN hn::TFromD<D> values[hn::MaxLanes(D())];
  hn::Store(vectors(d, x), d, values);
  HWY_ALIGN hn::TFromD<D> angles[hn::MaxLanes(D())];
  hn::Store(x, d, angles);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    if (!(std::abs(angles[i]) <= static_cast<hn::TFromD<D>>(angle_limit))) values[i] = scalar(angles[i]);
  return hn::Load(d, values);
}
struct Cos {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return of_angle(
        d, x, [](D tag, Vector<D> v) { return hn::Cos(tag, v); }, [](auto v) { return std::cos(v); });
  }
};
struct Sin {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return of_angle(
        d, x, [](D tag, Vector<D> v) { return hn::Sin(tag, v); }, [](auto v) { return std::sin(v); });
  }
};
struct Sign {  // NaN stays
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    const auto is_zero_or_nan = hn::Not(hn::Or(hn::Lt(x, hn::Zero(d)), hn::Gt(x, hn::Zero(d))));
    return hn::IfThenElse(is_zero_or_nan, hn::Add(x, hn::Zero(d)), hn::CopySign(constant(d, 1), x));
  }
};
struct Softplus {  // max(x, 0) + log(1 + exp(-|x|))
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return hn::Add(Relu::apply(d, x), log1p(d, exp(d, hn::Neg(hn::Abs(x)))));
  }
};
struct Softsign {  // x / (1 + |x|)
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return hn::Div(x, hn::Add(constant(d, 1), hn::Abs(x)));
  }
};
struct Sqrt {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> x) {
    return hn::Sqrt(x);
  }
};
struct Square {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> x) {
    return hn::Mul(x, x);
  }
};
struct Tanh {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> x) {
    return tanh(d, x);
  }
};

template <class Function, class T>
void unary_loop(const void* input, void* output, size_t n) {
  const T* x = static_cast<const T*>(input);
  T* y = static_cast<T*>(output);
  if (n == 1) {  // scalars are frequent: they use one lane and no mask
    const hn::CappedTag<T, 1> one;
    hn::StoreU(Function::apply(one, hn::LoadU(one, x)), one, y);
    return;
  }
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Function::apply(d, hn::LoadU(d, x + i)), d, y + i);
  if (i < n) store_first(Function::apply(d, load_first(d, x + i, n - i)), d, y + i, n - i);
}

template <class T>
UnaryLoop unary_loop_of(VectorUnary function) {
  switch (function) {
    case VectorUnary::Abs: return unary_loop<Abs, T>;
    case VectorUnary::Ceil: return unary_loop<Ceil, T>;
    case VectorUnary::Cos: return unary_loop<Cos, T>;
    case VectorUnary::Elu: return unary_loop<Elu, T>;
    case VectorUnary::Selu: return unary_loop<Selu, T>;
    case VectorUnary::Erf:
      if constexpr (std::is_same_v<T, float>) return unary_loop<Erf, T>;
      return nullptr;
    case VectorUnary::Exp: return unary_loop<Exp, T>;
    case VectorUnary::Expm1: return unary_loop<Expm1, T>;
    case VectorUnary::Floor: return unary_loop<Floor, T>;
    case VectorUnary::Log: return unary_loop<Log, T>;
    case VectorUnary::Log1p: return unary_loop<Log1p, T>;
    case VectorUnary::Neg: return unary_loop<Neg, T>;
    case VectorUnary::Reciprocal: return unary_loop<Reciprocal, T>;
    case VectorUnary::Relu: return unary_loop<Relu, T>;
    case VectorUnary::Relu6: return unary_loop<Relu6, T>;
    case VectorUnary::Round: return unary_loop<Round, T>;
    case VectorUnary::Rsqrt: return unary_loop<Rsqrt, T>;
    case VectorUnary::Sigmoid: return unary_loop<Sigmoid, T>;
    case VectorUnary::Sign: return unary_loop<Sign, T>;
    case VectorUnary::Sin: return unary_loop<Sin, T>;
    case VectorUnary::Softplus: return unary_loop<Softplus, T>;
    case VectorUnary::Softsign: return unary_loop<Softsign, T>;
    case VectorUnary::Sqrt: return unary_loop<Sqrt, T>;
    case VectorUnary::Square: return unary_loop<Square, T>;
    case VectorUnary::Tanh: return unary_loop<Tanh, T>;
  }
  return nullptr;
}

UnaryLoop unary_loop_for(VectorUnary function, DType dtype) {
  if (dtype == DType::Float) return unary_loop_of<float>(function);
  return dtype == DType::Double ? unary_loop_of<double>(function) : nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(unary_loop_for);

UnaryLoop vector_loop(VectorUnary function, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(unary_loop_for)(function, dtype);
}

}  // namespace troupe
#endif

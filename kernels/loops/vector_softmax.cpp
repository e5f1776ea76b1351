#include "kernels/loops/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_softmax.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

/// Calls visit.step<true>(d, i, lanes) for every whole vector in [begin, end) and visit.step<false>(d, i, n) for the n elements
/// that remain.
template <class T, class Visit>
HWY_INLINE void for_vectors(size_t begin, size_t end, Visit& visit) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = begin;
  for (; i + lanes <= end; i += lanes) visit.template step<true>(d, i, lanes);
  if (i < end) visit.template step<false>(d, i, end - i);
}

template <bool Whole, class D, class T = hn::TFromD<D>>
HWY_INLINE Vector<D> load(D d, const T* p, size_t n) {
  if constexpr (Whole) return hn::LoadU(d, p);
  return load_first(d, p, n);
}
template <bool Whole, class D, class T = hn::TFromD<D>>
HWY_INLINE void store(Vector<D> v, D d, T* p, size_t n) {
  if constexpr (Whole)
    hn::StoreU(v, d, p);
  else
    store_first(v, d, p, n);
}

template <class T>
struct Greatest {
  const T* x;
  Vector<hn::ScalableTag<T>> best;
  template <bool Whole, class D>
  HWY_INLINE void step(D d, size_t i, size_t n) {
    auto v = load<Whole>(d, x + i, n);
    if constexpr (!Whole) v = hn::IfThenElse(hn::FirstN(d, n), v, best);
    best = hn::Max(best, v);
  }
};

template <class T>
HWY_INLINE T greatest(const T* x, size_t n) {
  const hn::ScalableTag<T> d;
  Greatest<T> visit{x, hn::Set(d, x[0])};
  for_vectors<T>(0, n, visit);
  return hn::GetLane(hn::MaxOfLanes(d, visit.best));
}

/// Sums exp(x - shift); if Stores, it also writes the exponentials to y.
template <class T, bool Stores>
struct Exponentials {
  const T* x;
  T* y;
  Vector<hn::ScalableTag<T>> shift, sum;
  template <bool Whole, class D>
  HWY_INLINE void step(D d, size_t i, size_t n) {
    auto e = exp(d, hn::Sub(load<Whole>(d, x + i, n), shift));
    if constexpr (!Whole) e = hn::IfThenElseZero(hn::FirstN(d, n), e);
    if constexpr (Stores) store<Whole>(e, d, y + i, n);
    sum = hn::Add(sum, e);
  }
};

/// A block is summed in the lanes of a vector; the sums of blocks are added in double.
constexpr size_t block = 4096;

template <bool Stores, class T>
HWY_INLINE double sum_of_exponentials(const T* x, T shift, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  double total = 0;
  for (size_t begin = 0; begin < n; begin += block) {
    Exponentials<T, Stores> visit{x, y, hn::Set(d, shift), hn::Zero(d)};
    for_vectors<T>(begin, begin + block < n ? begin + block : n, visit);
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, visit.sum)));
  }
  return total;
}

template <class T>
struct Scale {  // y *= factor
  T* y;
  Vector<hn::ScalableTag<T>> factor;
  template <bool Whole, class D>
  HWY_INLINE void step(D d, size_t i, size_t n) {
    store<Whole>(hn::Mul(load<Whole>(d, y + i, n), factor), d, y + i, n);
  }
};

template <class T>
struct Shift {  // y = x - shift - log_sum
  const T* x;
  T* y;
  Vector<hn::ScalableTag<T>> shift, log_sum;
  template <bool Whole, class D>
  HWY_INLINE void step(D d, size_t i, size_t n) {
    store<Whole>(hn::Sub(hn::Sub(load<Whole>(d, x + i, n), shift), log_sum), d, y + i, n);
  }
};

/// Computes y = exp(x - shift) / sum and returns the sum. A row that fits a register stays there.
template <class T>
HWY_INLINE double softmax_row(const T* x, T shift, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  if (n <= hn::Lanes(d)) {
    const auto e =
        hn::IfThenElseZero(hn::FirstN(d, n), exp(d, hn::Sub(load_first(d, x, n), hn::Set(d, shift))));
    const auto sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, e)));
    store_first(hn::Mul(e, hn::Set(d, static_cast<T>(1 / sum))), d, y, n);
    return sum;
  }
  const double total = sum_of_exponentials<true>(x, shift, y, n);
  Scale<T> scale{y, hn::Set(d, static_cast<T>(1 / total))};
  for_vectors<T>(0, n, scale);
  return total;
}

template <class T>
void softmax(const void* input, void* output, size_t n) {
  const T* x = static_cast<const T*>(input);
  softmax_row(x, greatest(x, n), static_cast<T*>(output), n);
}

template <class T>
void log_softmax(const void* input, void* output, size_t n) {
  const T* x = static_cast<const T*>(input);
  const hn::ScalableTag<T> d;
  const T shift = greatest(x, n);
  const auto log_sum =
      static_cast<T>(std::log(sum_of_exponentials<false>(x, shift, static_cast<T*>(nullptr), n)));
  Shift<T> visit{x, static_cast<T*>(output), hn::Set(d, shift), hn::Set(d, log_sum)};
  for_vectors<T>(0, n, visit);
}

template <class T>
struct CrossEntropy {  // loss += labels (log_sum - (x - shift)), y = exp(x - shift) factor - labels
  const T *x, *labels;
  T* y;
  Vector<hn::ScalableTag<T>> shift, log_sum, factor, loss;
  template <bool Whole, class D>
  HWY_INLINE void step(D d, size_t i, size_t n) {
    const auto p = load<Whole>(d, labels + i, n), shifted = hn::Sub(load<Whole>(d, x + i, n), shift);
    auto term = hn::Mul(p, hn::Sub(log_sum, shifted));
    if constexpr (!Whole) term = hn::IfThenElseZero(hn::FirstN(d, n), term);
    loss = hn::Add(loss, term);
    store<Whole>(hn::Sub(hn::Mul(exp(d, shifted), factor), p), d, y + i, n);
  }
};

template <class T>
void cross_entropy(const void* logits, const void* labels, void* loss, void* output, size_t n) {
  const T *x = static_cast<const T*>(logits), *p = static_cast<const T*>(labels);
  T* y = static_cast<T*>(output);
  const hn::ScalableTag<T> d;
  const T shift = greatest(x, n);
  if (n <= hn::Lanes(d)) {  // each exponential is computed once
    const auto mask = hn::FirstN(d, n);
    const auto shifted = hn::Sub(load_first(d, x, n), hn::Set(d, shift)), labelled = load_first(d, p, n);
    const auto e = hn::IfThenElseZero(mask, exp(d, shifted));
    const auto sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, e)));
    const auto term = hn::Mul(labelled, hn::Sub(hn::Set(d, static_cast<T>(std::log(sum))), shifted));
    *static_cast<T*>(loss) = hn::GetLane(hn::SumOfLanes(d, hn::IfThenElseZero(mask, term)));
    store_first(hn::Sub(hn::Mul(e, hn::Set(d, static_cast<T>(1 / sum))), labelled), d, y, n);
    return;
  }
  const double total = sum_of_exponentials<false>(x, shift, static_cast<T*>(nullptr), n);
  const auto log_sum = hn::Set(d, static_cast<T>(std::log(total))),
             factor = hn::Set(d, static_cast<T>(1 / total));
  double sum = 0;
  for (size_t begin = 0; begin < n; begin += block) {
    CrossEntropy<T> visit{x, p, y, hn::Set(d, shift), log_sum, factor, hn::Zero(d)};
    for_vectors<T>(begin, begin + block < n ? begin + block : n, visit);
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, visit.loss)));
  }
  *static_cast<T*>(loss) = static_cast<T>(sum);
}

template <class T>
void sparse_cross_entropy(const void* logits, size_t label, void* loss, void* output, size_t n) {
  const T* x = static_cast<const T*>(logits);
  T* y = static_cast<T*>(output);
  const T shift = greatest(x, n);
  const double margin = static_cast<double>(x[label]) - static_cast<double>(shift);
  const double total = softmax_row(x, shift, y, n);
  y[label] -= T{1};
  *static_cast<T*>(loss) = static_cast<T>(std::log(total) - margin);
}

template <class T>
constexpr SoftmaxLoops loops = {softmax<T>, log_softmax<T>, cross_entropy<T>, sparse_cross_entropy<T>};

const SoftmaxLoops* softmax_loops_for(DType dtype) {
  return dtype == DType::Double ? &loops<double> : &loops<float>;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(softmax_loops_for);

const SoftmaxLoops& softmax_loops(DType dtype) { return *HWY_DYNAMIC_DISPATCH(softmax_loops_for)(dtype); }

}  // namespace troupe
#endif

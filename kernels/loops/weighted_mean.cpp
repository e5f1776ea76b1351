#include "kernels/loops/weighted_mean.h"

#include <vector>

#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/weighted_mean.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T>
HWY_INLINE void mean_of_lanes(D d, std::span<const T* const> gradients, std::span<const T> weights, T total,
                              T* mean, size_t i) {
  auto sum = hn::Mul(hn::LoadU(d, gradients[0] + i), hn::Set(d, weights[0]));
  for (size_t k = 1; k < gradients.size(); ++k)
    sum = hn::Add(sum, hn::Mul(hn::LoadU(d, gradients[k] + i), hn::Set(d, weights[k])));
  hn::StoreU(hn::Div(sum, hn::Set(d, total)), d, mean + i);
}

template <class T>
void mean_of_range(std::span<const T* const> gradients, std::span<const T> weights, T total, T* mean,
                   size_t begin, size_t end) {
  const hn::ScalableTag<T> wide;
  const hn::CappedTag<T, 1> narrow;
  const size_t lanes = hn::Lanes(wide);
  size_t i = begin;
  for (; i + lanes <= end; i += lanes) mean_of_lanes(wide, gradients, weights, total, mean, i);
  for (; i < end; ++i) mean_of_lanes(narrow, gradients, weights, total, mean, i);
}

void mean_of_floats(std::span<const float* const> gradients, std::span<const float> weights, float total,
                    float* mean, size_t begin, size_t end) {
  mean_of_range(gradients, weights, total, mean, begin, end);
}
void mean_of_doubles(std::span<const double* const> gradients, std::span<const double> weights, double total,
                     double* mean, size_t begin, size_t end) {
  mean_of_range(gradients, weights, total, mean, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(mean_of_floats);
HWY_EXPORT(mean_of_doubles);

namespace {

void mean_of(std::span<const float* const> gradients, std::span<const float> weights, float total,
             float* mean, size_t begin, size_t end) {
  HWY_DYNAMIC_DISPATCH(mean_of_floats)(gradients, weights, total, mean, begin, end);
}

void mean_of(std::span<const double* const> gradients, std::span<const double> weights, double total,
             double* mean, size_t begin, size_t end) {
  HWY_DYNAMIC_DISPATCH(mean_of_doubles)(gradients, weights, total, mean, begin, end);
}

template <class T>
void mean_of(std::span<const T* const> gradients, std::span<const float> weights, float total, T* mean,
             size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    float sum = static_cast<float>(gradients[0][i]) * weights[0];
    for (size_t k = 1; k < gradients.size(); ++k) sum += static_cast<float>(gradients[k][i]) * weights[k];
    mean[i] = T(sum / total);
  }
}

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
void fill_mean(std::span<const Tensor> gradients, std::span<const int64_t> weights, Tensor& mean,
               Pool& pool) {
  std::vector<const T*> values;
  std::vector<Sum<T>> factors;
  int64_t total = 0;
  for (size_t k = 0; k < gradients.size(); ++k) {
    if (weights[k] == 0) continue;
    values.push_back(gradients[k].as<T>().data());
    factors.push_back(static_cast<Sum<T>>(weights[k]));
    total += weights[k];
  }
  T* const out = mean.write<T>().data();
  parallel_items(pool, static_cast<size_t>(mean.elements()), (values.size() + 1) * sizeof(T),
                 [&](size_t begin, size_t end) {
                   mean_of(std::span<const T* const>(values), std::span<const Sum<T>>(factors),
                           static_cast<Sum<T>>(total), out, begin, end);
                 });
}

using GradientTypes = TypeList<float, double, Half, BFloat16>;

}  // namespace

Result<int64_t> sum_of_weights(std::span<const int64_t> weights) {
  int64_t total = 0;
  for (size_t k = 0; k < weights.size(); ++k)
    if (weights[k] < 0 || __builtin_add_overflow(total, weights[k], &total))
      return invalid_argument("shard " + std::to_string(k) + " has " + std::to_string(weights[k]) +
                              " samples; the numbers must not be negative and their sum must fit int64");
  if (total == 0) return invalid_argument("none of the shards has samples; a mean needs at least one sample");
  return total;
}

Result<Tensor> allocate_mean(std::span<const Tensor> gradients, std::span<const int64_t> weights,
                             Allocator& memory) {
  const Tensor& first = gradients[0];
  if (!with_type(GradientTypes{}, first.dtype(), [](auto) {}))
    return invalid_argument("the gradients are " + first.signature() +
                            "; a mean needs half, bfloat16, float or double");
  for (size_t k = 0; k < gradients.size(); ++k)
    if (gradients[k].dtype() != first.dtype() || !(gradients[k].shape() == first.shape()))
      return invalid_argument("the gradient of shard " + std::to_string(k) + " is " +
                              gradients[k].signature() + ", but that of shard 0 is " + first.signature());
  TROUPE_RETURN_IF_FAILED(sum_of_weights(weights).status());
  if (gradients.size() == 1) return first;
  return Tensor::allocate(first.dtype(), first.shape(), memory);
}

void weighted_mean(std::span<const Tensor> gradients, std::span<const int64_t> weights, Tensor& mean,
                   Pool& pool) {
  if (gradients.size() == 1) return;
  with_type(GradientTypes{}, mean.dtype(),
            [&]<class T>(std::type_identity<T>) { fill_mean<T>(gradients, weights, mean, pool); });
}

}  // namespace troupe
#endif

#include "kernels/loops/reduce_parts.h"

#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/weighted_mean.h"

namespace troupe {
namespace {

/// The type in which numbers of type T are added.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
bool is_nan([[maybe_unused]] T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

/// Elements that are reduced at a time: their results stay in the cache of a core.
constexpr size_t run = 1024;

template <class T, class Combine>
void combine_parts(std::span<const T* const> parts, T* result, size_t begin, size_t end, Combine combine,
                   Wide<T> divisor) {
  std::array<Wide<T>, run> values;
  for (size_t at = begin; at < end; at += run) {
    const size_t count = std::min(run, end - at);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<Wide<T>>(parts[0][at + i]);
    for (size_t k = 1; k < parts.size(); ++k)
      for (size_t i = 0; i < count; ++i)
        values[i] = combine(values[i], static_cast<Wide<T>>(parts[k][at + i]));
    if (divisor != Wide<T>(1))
      for (size_t i = 0; i < count; ++i) values[i] = values[i] / divisor;
    for (size_t i = 0; i < count; ++i) result[at + i] = T(values[i]);
  }
}

template <class T, class Combine>
void reduce_with(std::span<const Tensor> parts, Tensor& result, Pool& pool, Combine combine,
                 Wide<T> divisor = Wide<T>(1)) {
  std::vector<const T*> values;
  for (const Tensor& part : parts) values.push_back(part.as<T>().data());
  T* const out = result.write<T>().data();
  parallel_items(
      pool, static_cast<size_t>(result.elements()), (values.size() + 1) * sizeof(T),
      [&](size_t begin, size_t end) { combine_parts<T>(values, out, begin, end, combine, divisor); });
}

/// Sums, means and products.
template <class T>
void reduce_numbers(Reduction reduction, std::span<const Tensor> parts, Tensor& result, Pool& pool) {
  using W = Wide<T>;
  if (reduction == Reduction::Product)
    return reduce_with<T>(parts, result, pool, [](W a, W b) { return static_cast<W>(a * b); });
  const W divisor = reduction == Reduction::Mean ? static_cast<W>(static_cast<float>(parts.size())) : W(1);
  reduce_with<T>(
      parts, result, pool, [](W a, W b) { return static_cast<W>(a + b); }, divisor);
}

template <class T>
void select_numbers(Reduction reduction, std::span<const Tensor> parts, Tensor& result, Pool& pool) {
  using W = Wide<T>;
  if (reduction == Reduction::Max)
    reduce_with<T>(parts, result, pool, [](W a, W b) { return a < b || is_nan(b) ? b : a; });
  else
    reduce_with<T>(parts, result, pool, [](W a, W b) { return b < a || is_nan(b) ? b : a; });
}

template <class Types>
bool contains(Types types, DType dtype) {
  return with_type(types, dtype, [](auto) {});
}

}  // namespace

std::string_view name(Reduction reduction) {
  static constexpr std::string_view names[] = {"sum", "mean", "max", "min", "prod", "weighted mean"};
  return names[static_cast<size_t>(reduction)];
}

bool can_reduce(Reduction reduction, DType dtype) {
  switch (reduction) {
    case Reduction::Mean:
    case Reduction::WeightedMean: return contains(AllFloatTypes{}, dtype);
    case Reduction::Max:
    case Reduction::Min: return contains(RealTypes{}, dtype);
    case Reduction::Sum:
    case Reduction::Product: break;
  }
  return contains(NumberTypes{}, dtype);
}

void reduce_parts(Reduction reduction, std::span<const Tensor> parts, std::span<const int64_t> weights,
                  Tensor& result, Pool& pool) {
  if (reduction == Reduction::WeightedMean) return weighted_mean(parts, weights, result, pool);
  if (reduction == Reduction::Max || reduction == Reduction::Min) {
    with_type(RealTypes{}, result.dtype(),
              [&]<class T>(std::type_identity<T>) { select_numbers<T>(reduction, parts, result, pool); });
    return;
  }
  with_type(NumberTypes{}, result.dtype(),
            [&]<class T>(std::type_identity<T>) { reduce_numbers<T>(reduction, parts, result, pool); });
}

}  // namespace troupe

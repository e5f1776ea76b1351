// Combines two runs of elements with a functor of arithmetic.h, in the type in which the elements are computed. Pure functions;
// any thread may call them.
#pragma once

#include <span>

#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/update_rules.h"

namespace troupe {

/// Sets elements [begin, end) of `after` to Function(before, value), element by element.
template <class Function, class T>
void combine(std::span<const T> before, std::span<const T> value, std::span<T> after, size_t begin,
             size_t end) {
  constexpr bool adds = std::is_same_v<Function, Add>, subtracts = std::is_same_v<Function, Sub>;
  if constexpr ((adds || subtracts) && (std::is_same_v<T, float> || std::is_same_v<T, double>)) {
    const RuleArrays<T> arrays{{before.data()}, {after.data()}, value.data()};
    apply_rule(adds ? Rule::Add : Rule::Subtract, {}, arrays, begin, end);
  } else {
    using Computed = ComputeType<T>;
    for (size_t i = begin; i < end; ++i)
      after[i] = T(Function::apply(static_cast<Computed>(before[i]), static_cast<Computed>(value[i])));
  }
}

/// Sets each element of `to` to Function(to, from), element by element.
template <class Function, class T>
void combine_into(std::span<T> to, std::span<const T> from) {
  combine<Function, T>(to, from, to, 0, to.size());
}

/// Adds `factor` times each element of `from` to that of `to`, in the type in which the elements are computed.
template <class T>
void add_scaled(std::span<ComputeType<T>> to, ComputeType<T> factor, std::span<const T> from) {
  constexpr size_t short_row = 16;  // for which a call of the vector code takes longer than the elements
  using Computed = ComputeType<T>;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    if (to.size() >= short_row) {
      const RuleArrays<T> arrays{{to.data()}, {to.data()}, from.data()};
      return apply_rule(Rule::GradientDescent, {.rate = -factor}, arrays, 0, to.size());
    }
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = Add::apply(to[i], Mul::apply(factor, static_cast<Computed>(from[i])));
}

/// Each element of the named rows of `to`: Function of itself and that of the same row of `updates`, in the order of the updates.
template <class Function, class T>
void combine_rows(Pool& pool, const RowNumbers& rows, const Tensor& updates, Tensor& to) {
  const auto from = updates.as<T>();
  const auto values = to.write<T>();
  change_rows(pool, rows.numbers, 3 * rows.row * sizeof(T), [&](size_t i) {
    combine_into<Function, T>(values.subspan(static_cast<size_t>(rows.numbers[i]) * rows.row, rows.row),
                              from.subspan(i * rows.row, rows.row));
  });
}

}  // namespace troupe

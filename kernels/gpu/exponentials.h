// The sum of exponentials of a row, as softmax needs it, in one pass. Pure functions.
#pragma once

#include <cmath>

#include "kernels/gpu/numbers.h"

namespace troupe::gpu {

/// The greatest of some numbers x, and the sum of exp(x - greatest).
template <class W>
struct Exponentials {
  W greatest = -std::numeric_limits<W>::infinity(), sum = 0;

  TROUPE_ANY void add(W x) {
    if (x > greatest) {
      sum = sum * std::exp(greatest - x) + 1 + (x - x);  // an infinity makes it NaN
      greatest = x;
    } else {
      sum += std::exp(x - greatest);
    }
  }
};

/// Joins the exponentials of two sets of numbers.
struct JoinExponentials {
  template <class W>
  TROUPE_ANY Exponentials<W> operator()(const Exponentials<W>& a, const Exponentials<W>& b) const {
    const W greatest = b.greatest > a.greatest ? b.greatest : a.greatest;
    return {greatest, scaled(a, greatest) + scaled(b, greatest)};
  }

 private:
  template <class W>
  TROUPE_ANY static W scaled(const Exponentials<W>& of, W greatest) {
    return of.greatest == greatest ? of.sum : of.sum * std::exp(of.greatest - greatest);
  }
};

/// Returns the exponentials of a row of n elements to every thread of the team.
template <class Team, class T>
TROUPE_ANY Exponentials<Wide<T>> exponentials_of(const Team& team, const T* row, size_t n) {
  Exponentials<Wide<T>> result;
  for (size_t i = team.rank; i < n; i += team.size) result.add(load(row[i]));
  return team.combine(result, JoinExponentials{});
}

}  // namespace troupe::gpu

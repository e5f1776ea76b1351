#include "apps/nn/ragged/splits.h"

#include "kernels/constructors.h"

namespace troupe::nn::ragged {

DType index_type(const Scope& scope, Output splits, const std::string& caller) {
  const DType dtype = scope.dtype(splits);
  if (dtype == DType::Int32 || dtype == DType::Int64) return dtype;
  throw Error(invalid_argument("ragged::" + caller + ": splits, lengths and row numbers have type " +
                               std::string(name(dtype)) + "; expected int32 or int64"));
}

Output first_size(const Scope& scope, Output x, DType dtype) {
  return strided_slice(scope, shape(scope, x, dtype), {0}, {1}, {1}, 0, 0, 0, 0, 1);
}

Output part(const Scope& scope, Output vector, int64_t begin, int64_t left_out) {
  constexpr int64_t to_the_end = 1;  // a mask
  return strided_slice(scope, vector, {begin}, {-left_out}, {1}, 0, left_out == 0 ? to_the_end : 0);
}

Output numbers(const Scope& scope, Output n) { return range(scope, 0, n, 1); }

Output splits_of(const Scope& scope, Output lengths) {
  return troupe::pad(scope, cumsum(scope, lengths, 0), {{1, 0}});
}

Output checked(const Scope& scope, Output x, const std::vector<Output>& conditions,
               const std::vector<Output>& shown) {
  std::vector<Output> assertions;
  for (const Output& condition : conditions) {
    const Output whole = scope.shape(condition).has_rank(0) ? condition : all(scope, condition);
    assertions.push_back(assert_that(scope, whole, shown));
  }
  return scope.with_control(assertions).add_one("Identity", {x});
}

}  // namespace troupe::nn::ragged

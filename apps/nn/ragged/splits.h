// What the functions of ragged tensors share: numbers of rows and values, in the type of the splits. Private to apps/nn/ragged.
// Pure functions; one thread at a time per graph.
#pragma once

#include <string>

#include "apps/nn/ragged/ragged.h"

namespace troupe::nn::ragged {

/// Returns the type of splits. Throws InvalidArgument, naming the caller, unless it is int32 or int64.
DType index_type(const Scope& scope, Output splits, const std::string& caller);
/// Returns a scalar, the size of the first dimension of x.
Output first_size(const Scope& scope, Output x, DType dtype);
/// Returns elements begin, begin + 1, ... of a vector, all but the last `left_out`.
Output part(const Scope& scope, Output vector, int64_t begin, int64_t left_out);
/// Returns 0, 1, ..., n - 1 in the type of n, a scalar.
Output numbers(const Scope& scope, Output n);
/// Returns splits from the lengths of rows.
Output splits_of(const Scope& scope, Output lengths);
/// Returns x, in steps that fail with InvalidArgument unless all elements of each condition are true. An error shows `shown`.
Output checked(const Scope& scope, Output x, const std::vector<Output>& conditions,
               const std::vector<Output>& shown);

}  // namespace troupe::nn::ragged

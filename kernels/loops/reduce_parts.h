// The arithmetic of collectives: one tensor from several of the same dtype and shape, element by element, in the order of the
// parts:
//   sum: ((p[0] + p[1]) + p[2]) + ...; mean: the sum divided by the number of parts; max, min: a NaN wins; prod: the product;
//   weighted mean: kernels/loops/weighted_mean.h
// Half and bfloat16 are computed in float and rounded once. Pure functions; any thread may call them.
#pragma once

#include <cstdint>
#include <span>

#include "devices/pool.h"
#include "messages/values/tensor.h"

namespace troupe {

enum class Reduction : uint8_t { Sum, Mean, Max, Min, Product, WeightedMean };

/// Returns the name of a reduction, as in the attribute `reduction`: "sum".
std::string_view name(Reduction reduction);
/// Returns whether the elements of a dtype can be reduced like this: complex numbers have no order, and only floats have a mean.
bool can_reduce(Reduction reduction, DType dtype);
/// Reduces two parts or more into `result`, which has their dtype and as many elements and may share its buffer with other tensors
/// that do not use these elements. `weights` are those of the parts; only a weighted mean uses them, and their sum is not 0.
void reduce_parts(Reduction reduction, std::span<const Tensor> parts, std::span<const int64_t> weights,
                  Tensor& result, Pool& pool);

}  // namespace troupe

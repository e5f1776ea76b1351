// Ragged tensors, as ops take and return them: the rows of one dimension after the other, as vectors of splits, and a dense
// tensor of values. Row i of a dimension is elements splits[i] to splits[i + 1] - 1 of the next dimension, or of the values.
// Pure functions; any thread may call them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {

using SplitTypes = TypeList<int32_t, int64_t>;

/// Fails with InvalidArgument unless there are splits and they ascend from at least 0 to at most `limit`. `name` is that of the
/// argument.
Status check_ascending_splits(std::span<const int64_t> splits, int64_t limit, std::string_view name);
/// Fails with InvalidArgument unless the splits ascend from 0 to the number of values.
Status check_splits(std::span<const int64_t> splits, int64_t values, std::string_view name);

/// The splits of all dimensions, outermost first.
using NestedSplits = std::vector<std::vector<int64_t>>;
/// Returns the elements of inputs, which are splits.
NestedSplits nested_splits(std::span<const Slot> inputs);

/// For shape functions: fails with InvalidArgument unless the first `count` inputs may be vectors, and the next one, the
/// values, is no scalar.
Status check_ragged_shapes(const ShapeContext& context, size_t count);
/// For checks: the same for tensors.
Status check_ragged(const KernelContext& context, size_t count);

/// Fails with InvalidArgument if a number of values does not fit the type of splits.
Status check_fits(int64_t values, DType splits);
/// Writes integers to an integer tensor, int32 or int64.
void write_integers(std::span<const int64_t> values, Tensor& output);

}  // namespace troupe

// Sets, for their ops: the distinct values in the last dimension of a tensor of rank 2 or more, dense or sparse, whose other
// dimensions count sets. Checks on the host read the shapes of an input (dense_sets, sparse_sets); compute functions number its
// values (number_values) and go through them set by set. Pure functions; any thread may call them.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/core/type_dispatch.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {

using SetTypes = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;

/// The sets in an input.
struct Sets {
  const Tensor& values;
  std::optional<SparseTensor> sparse;  ///< nothing: the tensor is dense
  Dims dims;                           ///< of the dense tensor: those that count sets, then the last one
  Tensor numbers = {};                 ///< int64 [n]: the row-major numbers of the values of a sparse tensor

  size_t count() const { return static_cast<size_t>(values.elements()); }
  /// Returns the number of the set to which value i belongs. Sets ascend with the values.
  int64_t set_of(size_t i) const {
    return (sparse ? numbers.as<int64_t>()[i] : static_cast<int64_t>(i)) / dims.back();
  }
  /// Returns the end of the values, from `begin` on, that belong to a set.
  size_t end_of_set(size_t begin, int64_t set) const {
    while (begin < count() && set_of(begin) == set) ++begin;
    return begin;
  }
};

/// Fails with InvalidArgument, naming the argument that has the shape, if the rank is less than 2.
Status check_set_rank(size_t rank, std::string_view name);
/// Return the sets in an input, or in the three inputs of a sparse tensor from `first` on. Fail with InvalidArgument if the rank
/// is less than 2, and as read_sparse() does.
Result<Sets> dense_sets(const KernelContext& context, size_t input);
Result<Sets> sparse_sets(const KernelContext& context, size_t first);
/// Reads the positions of a sparse tensor. Fails with InvalidArgument if one is outside of the shape, repeated or not in row-major
/// order.
Status number_values(Sets& sets, DeviceContext& device);

/// The members of a set: numbers of values, which ascend by value, without equal values.
using Members = std::vector<size_t>;

/// Sets `members` to the values with numbers [begin, end), sorted and without repeated ones. less(i, j) compares values i and j.
template <class Less>
void sort_members(size_t begin, size_t end, const Less& less, Members& members) {
  members.clear();
  for (size_t i = begin; i < end; ++i) members.push_back(i);
  std::ranges::stable_sort(members, less);
  const auto equal = [&](size_t a, size_t b) { return !less(a, b) && !less(b, a); };
  members.erase(std::unique(members.begin(), members.end(), equal), members.end());
}

}  // namespace troupe

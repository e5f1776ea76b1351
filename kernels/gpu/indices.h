// Indices in device memory: int32 or int64 numbers, and positions that consist of several of them. An index out of range is
// reported (FaultReport), because only the device sees it.
#pragma once

#include <string>

#include "kernels/gpu/launch.h"
#include "messages/values/tensor.h"

namespace troupe::gpu {

/// The elements of an int32 or int64 tensor.
class Indices {
 public:
  explicit Indices(const Tensor& tensor) : data_(tensor.data()), wide_(tensor.dtype() == DType::Int64) {}
  TROUPE_ANY int64_t operator()(size_t i) const {
    return wide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i];
  }

 private:
  const void* data_;
  bool wide_;
};

/// The rows at the positions that the last dimension of a tensor lists (rows_at() in kernels/loops/rows.h).
class Positions {
 public:
  static constexpr size_t max_depth = 8;

  /// `dims` are those of the tensor that has the rows. Fails with Unimplemented if positions have too many indices.
  static Result<Positions> make(DeviceContext& device, const Tensor& indices, std::span<const int64_t> dims) {
    const auto depth = static_cast<size_t>(indices.shape().dims().back());
    if (depth > max_depth)
      return unimplemented("positions have " + std::to_string(depth) +
                           " indices, kernels of GPUs take at most " + std::to_string(max_depth));
    Positions result(
        indices,
        fault_report(device, "indices has {}, which is outside the dimensions: there the size is {}"));
    result.depth_ = depth;
    for (size_t i = 0; i < depth; ++i) result.dims_[i] = dims[i];
    return result;
  }

  /// Returns the number of the row at position i, or -1, which is reported, if the position is outside the tensor.
  TROUPE_ANY int64_t operator()(size_t i) const {
    int64_t row = 0;
    for (size_t d = 0; d < depth_; ++d) {
      const int64_t index = indices_(i * depth_ + d);
      if (index < 0 || index >= dims_[d]) {
        report_(index, dims_[d]);
        return -1;
      }
      row = row * dims_[d] + index;
    }
    return row;
  }

 private:
  Positions(const Tensor& indices, FaultReport report) : indices_(indices), report_(report) {}

  Indices indices_;
  FaultReport report_;
  size_t depth_ = 0;
  int64_t dims_[max_depth] = {};
};

}  // namespace troupe::gpu

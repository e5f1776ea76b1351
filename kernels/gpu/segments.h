// Rows combined by segments whose ids are in ascending order, on GPUs. Any thread may call the functions.
#pragma once

#include "kernels/gpu/copy.h"
#include "kernels/gpu/sorted_rows.h"
#include "kernels/ops/math/segments.h"

namespace troupe::gpu {

/// Stores the result of each segment, divided by its divisor.
template <class T>
struct StoreSegment {
  T* data;
  size_t row;
  SegmentDivisor divisor;
  const uint32_t* ids;  ///< ascending
  size_t n;             ///< the number of ids

  TROUPE_ANY void operator()(size_t segment, size_t column, Wide<T> total) const {
    if (divisor != SegmentDivisor::One)
      total = total / divisor_of<Wide<T>>(divisor, first_from(segment + 1) - first_from(segment));
    store(data[segment * row + column], total);
  }

 private:
  /// Returns the position of the first id that is not below `id`.
  TROUPE_ANY size_t first_from(size_t id) const {
    size_t begin = 0, end = n;
    while (begin < end) {
      const size_t middle = begin + (end - begin) / 2;
      if (ids[middle] < id)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
};

/// Combines n terms by their ids, which find_rows() or upload_rows() returned, in rows of the output. It has elements, and its
/// first dimension is the number of segments. Rows without a term are `neutral`.
template <class Combine, class T, class Terms>
Status combine_segments(DeviceContext& device, const SortedRows& ids, size_t n, const Terms& terms,
                        SegmentDivisor divisor, int neutral, Tensor& output) {
  T start;
  store(start, static_cast<Wide<T>>(neutral));
  const Tensor value = Tensor::scalar(start);
  TROUPE_RETURN_IF_FAILED(fill_with(device, &value, output));
  const auto segments = static_cast<size_t>(output.shape()[0]);
  const size_t row = static_cast<size_t>(output.elements()) / segments;
  return combine_sorted<Combine, Wide<T>>(
      device, ids, n, segments, row, terms,
      StoreSegment<T>{output.write<T>().data(), row, divisor, ids.rows, n});
}

}  // namespace troupe::gpu

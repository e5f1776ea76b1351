// TensorList: the value of a variant in which graphs of TensorFlow 2 keep tensors from one iteration of a loop to another (the
// ops named TensorList... in tensor_list_ops.cpp). It is a plain value: a kernel that changes a list changes a copy, or the
// list itself if nobody else holds its tensor.
#pragma once

#include <vector>

#include "graph/ops/partial_shape.h"
#include "kernels/core/kernel.h"

namespace troupe {

class TensorList final : public VariantValue {
 public:
  static constexpr int64_t max_elements = 1 << 22;
  static constexpr int64_t max_levels = 64;  ///< the maximum nesting of lists in lists

  DType dtype = DType::Invalid;
  PartialShape element_shape;
  int64_t max_size = -1;  ///< the number of elements up to which PushBack may add one; negative: unlimited
  std::vector<Tensor> elements;  ///< an element that was never set is an invalid tensor

  size_t size() const { return elements.size(); }
  /// Returns the nesting of lists: 1 if no element is a list.
  int64_t levels() const { return levels_; }

  /// Fails with InvalidArgument if the element has another dtype than the list or a shape that does not fit, or if lists would
  /// be nested too deeply.
  Status check(const Tensor& element) const;
  /// Add or replace an element. The caller has called check().
  void push(Tensor element);
  void set(size_t index, Tensor element);
  /// Fails with InvalidArgument if `size` is negative, and with ResourceExhausted if it exceeds max_elements.
  Status resize(int64_t size);
  /// Returns the shape of an element that was never set and is read as zeros: the shape on which `requested`, the list and its
  /// other elements agree. Fails with InvalidArgument if that shape is not fully known.
  Result<Shape> shape_of_unset(const PartialShape& requested) const;
  /// Returns what `requested`, the list and its elements together determine of the shape of an element. Fails with InvalidArgument
  /// if they contradict each other.
  Result<PartialShape> common_shape(const PartialShape& requested) const;

 private:
  int64_t levels_ = 1;
};

/// Returns the list in a scalar variant. Fails with InvalidArgument if the variant is no list.
Result<const TensorList*> list_in(const Tensor& handle);
/// Returns the list in a scalar variant. Fails with InvalidArgument if the variant is no list or its elements are not of
/// `dtype`.
Result<const TensorList*> list_in(const Tensor& handle, DType dtype);

}  // namespace troupe

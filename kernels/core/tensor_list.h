// TensorList: the value of a variant that TensorFlow 2 keeps tensors in from one iteration of a loop to another (ops of that name
// in tensor_list_ops.cpp). A value like any other: kernels that change one write to a copy, or in place where nobody else holds its
// tensor.
#pragma once

#include <vector>

#include "graph/ops/partial_shape.h"
#include "kernels/core/kernel.h"

namespace troupe {

class TensorList final : public VariantValue {
 public:
  static constexpr int64_t max_elements = 1 << 24;
  static constexpr int64_t max_levels = 64;  ///< of lists in lists

  DType dtype = DType::Invalid;
  PartialShape element_shape;
  int64_t most = -1;             ///< what it may hold when pushed to; negative: any number
  std::vector<Tensor> elements;  ///< one that was never set holds nothing

  size_t size() const { return elements.size(); }
  /// 1 when no element is a list.
  int64_t levels() const { return levels_; }

  /// InvalidArgument when the element is of another dtype, of a shape that does not fit, or a list in too many lists.
  Status check(const Tensor& element) const;
  /// `element` has been checked.
  void push(Tensor element);
  void set(size_t index, Tensor element);
  /// InvalidArgument when that is negative, ResourceExhausted when it is more than max_elements.
  Status resize(int64_t size);
  /// The shape of the zeros that an element that was never set is read as: what `asked`, the list and its other elements agree on.
  /// InvalidArgument when they leave some of it open.
  Result<Shape> shape_of_unset(const PartialShape& asked) const;
  /// What `asked`, the list and its elements say together of an element's shape. InvalidArgument when they contradict each other.
  Result<PartialShape> common_shape(const PartialShape& asked) const;

 private:
  int64_t levels_ = 1;
};

/// The list that a scalar variant holds. InvalidArgument when it is none.
Result<const TensorList*> list_in(const Tensor& handle);
/// The same, when its elements are of `dtype`.
Result<const TensorList*> list_in(const Tensor& handle, DType dtype);

}  // namespace troupe

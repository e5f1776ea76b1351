// Queue elements: the elements of a queue, in order, stored as rows of tensors. Elements that were enqueued together stay in one
// tensor, so that any number of elements is enqueued and dequeued at the cost of one, without a copy. Elements are copied only when
// they are stacked from several pieces. Plain values, owned by the queue role.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "devices/device.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Adjacent elements: the rows [begin, end) of each component.
struct ElementRows {
  std::shared_ptr<const std::vector<Tensor>> components;
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  /// The bytes of these rows.
  size_t bytes() const;
  /// Removes the first `n` elements and returns them.
  ElementRows take(int64_t n);
};

/// Makes rows of one element of its components, which have a leading dimension of 1.
ElementRows element_of(std::span<const Tensor> components);
/// Makes rows of one element. Fails with InvalidArgument if a component already has the highest possible rank.
Result<ElementRows> one_element(std::span<const Tensor> components);
/// Returns the components of `rows`, which must be one element.
std::vector<Tensor> components_of(const ElementRows& rows);

/// A sequence of elements that grows and shrinks at both ends. An empty one has no memory.
class ElementQueue {
 public:
  int64_t size() const { return size_; }
  void push_back(ElementRows rows);
  /// Removes and returns between 1 and `max` elements from the front. The queue must not be empty.
  ElementRows take(int64_t max);
  /// Puts all elements of `other`, in order, before the elements of this queue.
  void put_back(ElementQueue&& other);
  std::span<const ElementRows> pieces() const { return std::span(pieces_).subspan(first_); }

 private:
  std::vector<ElementRows> pieces_;
  size_t first_ = 0;  ///< the pieces before it have been taken
  int64_t size_ = 0;
};

/// Returns the shape of `n` stacked elements of this shape. Fails with InvalidArgument if there is no such shape.
Result<Shape> stacked_shape(int64_t n, const Shape& element, DType dtype);

// These two stack all elements along dimension 0, one tensor per component: allocate_stack() allocates the tensors, and
// fill_stack() copies the elements, which may take long and may run on any thread. Dimensions that differ between elements become
// as large as the largest, and the smaller elements are padded with zeros or empty strings at their ends.
Result<std::vector<Tensor>> allocate_stack(const ElementQueue& elements, DeviceContext& device);
void fill_stack(const ElementQueue& elements, std::vector<Tensor>& stack, Pool& pool);

// These two copy each element of `rows` into tensors of its own, one per component with a leading dimension of 1, in the same way.
Result<std::vector<std::vector<Tensor>>> allocate_elements(const ElementRows& rows, DeviceContext& device);
void fill_elements(const ElementRows& rows, std::vector<std::vector<Tensor>>& elements, Pool& pool);

}  // namespace troupe

// The elements of a queue, in order: rows of tensors. What was enqueued together stays together, so that any number of elements
// goes in and out at the cost of one, without a copy; only what is stacked from several pieces is copied. Plain values, owned by
// the queue role.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "devices/device.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Elements next to each other: rows [begin, end) of each component.
struct ElementRows {
  std::shared_ptr<const std::vector<Tensor>> components;
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  /// Cuts off the first `n`.
  ElementRows take(int64_t n);
};

/// One element as rows: InvalidArgument when a component has the highest possible rank already.
Result<ElementRows> one_element(std::span<const Tensor> components);
/// Its components again, of `rows`, which is one element.
std::vector<Tensor> components_of(const ElementRows& rows);

/// A sequence of elements that grows and shrinks at both ends.
class ElementQueue {
 public:
  int64_t size() const { return size_; }
  void push_back(ElementRows rows);
  /// Between 1 and `most` elements from the front; there must be some.
  ElementRows take(int64_t most);
  /// Puts all of `other` before what is here, in its order.
  void put_back(ElementQueue&& other);
  const std::deque<ElementRows>& pieces() const { return pieces_; }

 private:
  std::deque<ElementRows> pieces_;
  int64_t size_ = 0;
};

/// The shape of n elements of this shape, stacked; InvalidArgument when there is no such shape.
Result<Shape> stacked_shape(int64_t n, const Shape& element, DType dtype);

/// All elements stacked along dimension 0, one tensor per component, in two halves: memory, which may fail, and the copying,
/// which may take long and runs on any thread.
Result<std::vector<Tensor>> allocate_stack(const ElementQueue& elements, DeviceContext& device);
void fill_stack(const ElementQueue& elements, std::vector<Tensor>& stack, Pool& pool);

}  // namespace troupe

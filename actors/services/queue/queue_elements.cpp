#include "actors/services/queue/queue_elements.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/loops/strided_copy.h"

namespace troupe {

ElementRows ElementRows::take(int64_t n) {
  ElementRows first{components, begin, begin + n};
  begin += n;
  return first;
}

Result<ElementRows> one_element(std::span<const Tensor> components) {
  auto rows = std::make_shared<std::vector<Tensor>>();
  rows->reserve(components.size());
  for (const Tensor& component : components) {
    TROUPE_ASSIGN(const Shape shape, stacked_shape(1, component.shape(), component.dtype()));
    rows->push_back(component.reshaped(shape));
  }
  return ElementRows{std::move(rows), 0, 1};
}

std::vector<Tensor> components_of(const ElementRows& rows) {
  std::vector<Tensor> result;
  result.reserve(rows.components->size());
  for (const Tensor& component : *rows.components) {
    const auto shape = Shape::make(component.shape().dims().subspan(1), component.dtype());
    result.push_back(component.rows(rows.begin, rows.end).reshaped(shape.value()));
  }
  return result;
}

void ElementQueue::push_back(ElementRows rows) {
  size_ += rows.count();
  pieces_.push_back(std::move(rows));
}

ElementRows ElementQueue::take(int64_t max) {
  ElementRows& first = pieces_.front();
  const int64_t n = std::min(max, first.count());
  ElementRows taken = first.take(n);
  if (first.count() == 0) pieces_.pop_front();
  size_ -= n;
  return taken;
}

void ElementQueue::put_back(ElementQueue&& other) {
  size_ += std::exchange(other.size_, 0);
  pieces_.insert(pieces_.begin(), std::make_move_iterator(other.pieces_.begin()),
                 std::make_move_iterator(other.pieces_.end()));
  other.pieces_.clear();
}

Result<Shape> stacked_shape(int64_t n, const Shape& element, DType dtype) {
  std::vector<int64_t> dims = {n};
  dims.insert(dims.end(), element.dims().begin(), element.dims().end());
  return Shape::make(dims, dtype);
}

Result<std::vector<Tensor>> allocate_stack(const ElementQueue& elements, DeviceContext& device) {
  std::vector<Tensor> stack;
  for (const Tensor& component : *elements.pieces().front().components) {
    std::vector<int64_t> dims(component.shape().dims().begin(), component.shape().dims().end());
    dims[0] = elements.size();
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, component.dtype()));
    TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(component.dtype(), shape, device.memory()));
    stack.push_back(std::move(tensor));
  }
  return stack;
}

void fill_stack(const ElementQueue& elements, std::vector<Tensor>& stack, Pool& pool) {
  for (size_t i = 0; i < stack.size(); ++i) {
    const int64_t row = stack[i].elements() / elements.size();
    int64_t at = 0;
    for (const ElementRows& piece : elements.pieces()) {
      const int64_t box[] = {piece.count() * row};
      strided_copy(pool, box, (*piece.components)[i], {piece.begin * row, {1}}, stack[i], {at * row, {1}});
      at += piece.count();
    }
  }
}

}  // namespace troupe

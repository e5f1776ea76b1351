#include "actors/services/queue/queue_elements.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

/// The dimensions of component `i` of an element, without the leading one.
std::span<const int64_t> element_dims(const ElementRows& rows, size_t i) {
  return (*rows.components)[i].shape().dims().subspan(1);
}

int64_t row_elements(const Tensor& component) {
  const int64_t rows = component.shape()[0];
  return rows == 0 ? 0 : component.elements() / rows;
}

/// Copies the rows of component `i` to the rows of `stack` from `at` on, whose elements have the same size.
void copy_rows(const ElementRows& rows, size_t i, Tensor& stack, int64_t at, Pool& pool) {
  const Tensor& component = (*rows.components)[i];
  const int64_t row = row_elements(component);
  const int64_t box[] = {rows.count() * row};
  strided_copy(pool, box, component, {rows.begin * row, {1}}, stack, {at * row, {1}});
}

/// As copy_rows(), to larger elements.
void copy_padded(const ElementRows& rows, size_t i, Tensor& stack, int64_t at, Pool& pool) {
  const Tensor& component = (*rows.components)[i];
  Dims box(component.shape().dims());
  box[0] = rows.count();
  const Dims from = strides_of(component.shape().dims()), to = strides_of(stack.shape().dims());
  strided_copy(pool, box, component, {rows.begin * from[0], from}, stack, {at * to[0], to});
}

}  // namespace

size_t ElementRows::bytes() const {
  size_t result = 0;
  for (const Tensor& component : *components)
    result += component.bytes() / static_cast<size_t>(std::max<int64_t>(component.shape()[0], 1)) *
              static_cast<size_t>(count());
  return result;
}

ElementRows ElementRows::take(int64_t n) {
  ElementRows first{components, begin, begin + n};
  begin += n;
  return first;
}

ElementRows element_of(std::span<const Tensor> components) {
  return {std::make_shared<std::vector<Tensor>>(components.begin(), components.end()), 0, 1};
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
  if (pieces_.size() == pieces_.capacity() && 2 * first_ > pieces_.size()) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
  size_ += rows.count();
  pieces_.push_back(std::move(rows));
}

ElementRows ElementQueue::take(int64_t max) {
  ElementRows& first = pieces_[first_];
  const int64_t n = std::min(max, first.count());
  size_ -= n;
  if (n < first.count()) return first.take(n);
  ElementRows taken = std::move(first);
  if (++first_ == pieces_.size()) {
    pieces_.clear();
    first_ = 0;
  }
  return taken;
}

void ElementQueue::put_back(ElementQueue&& other) {
  size_ += std::exchange(other.size_, 0);
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(std::exchange(first_, 0)));
  pieces_.insert(pieces_.begin(),
                 std::make_move_iterator(other.pieces_.begin() + static_cast<ptrdiff_t>(other.first_)),
                 std::make_move_iterator(other.pieces_.end()));
  other.pieces_.clear();
  other.first_ = 0;
}

Result<Shape> stacked_shape(int64_t n, const Shape& element, DType dtype) {
  std::vector<int64_t> dims = {n};
  dims.insert(dims.end(), element.dims().begin(), element.dims().end());
  return Shape::make(dims, dtype);
}

Result<std::vector<Tensor>> allocate_stack(const ElementQueue& elements, DeviceContext& device) {
  std::vector<Tensor> stack;
  const ElementRows& first = elements.pieces().front();
  for (size_t i = 0; i < first.components->size(); ++i) {
    Dims dims(element_dims(first, i));
    for (const ElementRows& piece : elements.pieces())
      for (size_t axis = 0; axis < dims.size(); ++axis)
        dims[axis] = std::max(dims[axis], element_dims(piece, i)[axis]);
    const DType dtype = (*first.components)[i].dtype();
    TROUPE_ASSIGN(const Shape element, Shape::make(dims, dtype));
    TROUPE_ASSIGN(const Shape shape, stacked_shape(elements.size(), element, dtype));
    TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(dtype, shape, device.memory()));
    stack.push_back(std::move(tensor));
  }
  return stack;
}

void fill_stack(const ElementQueue& elements, std::vector<Tensor>& stack, Pool& pool) {
  for (size_t i = 0; i < stack.size(); ++i) {
    const auto fits = [&](const ElementRows& piece) {
      return std::ranges::equal(element_dims(piece, i), stack[i].shape().dims().subspan(1));
    };
    if (!std::ranges::all_of(elements.pieces(), fits)) fill(pool, stack[i]);
    int64_t at = 0;
    for (const ElementRows& piece : elements.pieces()) {
      (fits(piece) ? copy_rows : copy_padded)(piece, i, stack[i], at, pool);
      at += piece.count();
    }
  }
}

Result<std::vector<std::vector<Tensor>>> allocate_elements(const ElementRows& rows, DeviceContext& device) {
  std::vector<Shape> shapes;
  for (const Tensor& component : *rows.components) {
    TROUPE_ASSIGN(Shape shape,
                  Shape::make(Dims(component.shape().dims().subspan(1)).with(0, 1), component.dtype()));
    shapes.push_back(std::move(shape));
  }
  std::vector<std::vector<Tensor>> elements(static_cast<size_t>(rows.count()));
  for (auto& element : elements)
    for (size_t i = 0; i < shapes.size(); ++i) {
      TROUPE_ASSIGN(Tensor tensor,
                    Tensor::allocate((*rows.components)[i].dtype(), shapes[i], device.memory()));
      element.push_back(std::move(tensor));
    }
  return elements;
}

void fill_elements(const ElementRows& rows, std::vector<std::vector<Tensor>>& elements, Pool& pool) {
  for (size_t e = 0; e < elements.size(); ++e) {
    const int64_t at = rows.begin + static_cast<int64_t>(e);
    for (size_t i = 0; i < elements[e].size(); ++i)
      copy_rows({rows.components, at, at + 1}, i, elements[e][i], 0, pool);
  }
}

}  // namespace troupe

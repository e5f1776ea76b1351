#include "kernels/core/tensor_array.h"

#include <algorithm>

#include "kernels/core/dims.h"

namespace troupe {
namespace {

std::string element(int64_t index) { return "element " + std::to_string(index) + " of the TensorArray"; }

Result<Shape> join(const Shape& prefix, const Shape& shape, DType dtype) {
  Dims dims(prefix.dims());
  for (const int64_t dim : shape.dims()) dims.push_back(dim);
  return Shape::make(dims, dtype);
}

}  // namespace

Result<std::shared_ptr<TensorArray>> TensorArray::make(Options options, int64_t size) {
  if (size < 0) return invalid_argument("size is " + std::to_string(size) + "; it must not be negative");
  if (size > max_elements)
    return resource_exhausted("size is " + std::to_string(size) + "; a TensorArray has at most " +
                              std::to_string(max_elements) + " elements");
  return std::shared_ptr<TensorArray>(new TensorArray(std::move(options), static_cast<size_t>(size)));
}

Status TensorArray::check_open() const {
  return closed_ ? invalid_argument("the TensorArray has already been closed") : Status{};
}

Status TensorArray::write(int64_t index, Tensor value, WriterKey key) {
  const std::lock_guard guard(lock_);
  TROUPE_RETURN_IF_FAILED(check_open());
  TROUPE_ASSIGN(Cell* const cell, cell_to_write(index));
  TROUPE_RETURN_IF_FAILED(check_value(*cell, index, value));
  if (options_.equal_shapes && !options_.element_shape.fully_known()) options_.element_shape = value.shape();
  cell->shape = value.shape();
  cell->written = true;
  cell->terms.emplace_back(key, std::move(value));
  return {};
}

Result<TensorArray::Cell*> TensorArray::cell_to_write(int64_t index) {
  const auto size = static_cast<int64_t>(cells_.size());
  if (index < 0 || (index >= size && !options_.may_grow))
    return invalid_argument("index " + std::to_string(index) + " is not in [0, " + std::to_string(size) +
                            "), the range of the TensorArray, which cannot grow");
  if (index >= max_elements)
    return resource_exhausted("index " + std::to_string(index) + " is too large: a TensorArray has at most " +
                              std::to_string(max_elements) + " elements");
  if (index >= size) cells_.resize(static_cast<size_t>(index) + 1);
  Cell& cell = cells_[static_cast<size_t>(index)];
  if (cell.read) return invalid_argument(element(index) + " has already been read and cannot be written");
  if (cell.written && !options_.is_gradient)
    return invalid_argument(element(index) + " has already been written to");
  return &cell;
}

Status TensorArray::check_value(const Cell& cell, int64_t index, const Tensor& value) {
  if (value.dtype() != options_.dtype)
    return invalid_argument("the value is " + std::string(name(value.dtype())) +
                            ", but the TensorArray's dtype is " + std::string(name(options_.dtype)));
  if (!options_.element_shape.compatible_with(value.shape()))
    return invalid_argument("the value for " + element(index) + " has shape " + value.shape().text() +
                            ", but its elements must have shape " + options_.element_shape.text());
  if (cell.written && cell.shape != value.shape())
    return invalid_argument("the value for " + element(index) + " has shape " + value.shape().text() +
                            ", but what it is added to has shape " + cell.shape.text());
  return {};
}

Result<TensorArray::Element> TensorArray::read(int64_t index) {
  const std::lock_guard guard(lock_);
  TROUPE_RETURN_IF_FAILED(check_open());
  TROUPE_ASSIGN(Cell* const cell, cell_to_read(index));
  cell->read = true;
  Element result{cell->shape, {}};
  std::ranges::stable_sort(cell->terms, {}, [](const auto& term) { return term.first; });
  for (const auto& [key, tensor] : cell->terms) result.terms.push_back(tensor);
  if (options_.read_once) {
    cell->released = true;
    cell->terms.clear();
  }
  return result;
}

Result<TensorArray::Cell*> TensorArray::cell_to_read(int64_t index) {
  const auto size = static_cast<int64_t>(cells_.size());
  if (index < 0 || index >= (options_.is_gradient ? max_elements : size))
    return invalid_argument("index " + std::to_string(index) + " is not in [0, " + std::to_string(size) +
                            "), the range of the TensorArray");
  if (index >= size) cells_.resize(static_cast<size_t>(index) + 1);
  Cell& cell = cells_[static_cast<size_t>(index)];
  if (cell.released)
    return invalid_argument(
        element(index) +
        " was released when it was read; with clear_after_read = false it can be read again");
  if (cell.written) return &cell;
  if (!options_.element_shape.fully_known())
    return invalid_argument(element(index) +
                            " was never written, and the shape of its zeros is not fully known: " +
                            options_.element_shape.text());
  TROUPE_ASSIGN(cell.shape, options_.element_shape.to_shape(options_.dtype));
  cell.written = true;
  return &cell;
}

Result<int64_t> TensorArray::size() {
  const std::lock_guard guard(lock_);
  TROUPE_RETURN_IF_FAILED(check_open());
  return static_cast<int64_t>(cells_.size());
}

Result<int64_t> TensorArray::parts() {
  const std::lock_guard guard(lock_);
  TROUPE_RETURN_IF_FAILED(check_open());
  const auto size = static_cast<int64_t>(cells_.size());
  return options_.is_gradient ? parts_.value_or(size) : size;
}

Status TensorArray::begin_parts(int64_t parts) {
  const std::lock_guard guard(lock_);
  TROUPE_RETURN_IF_FAILED(check_open());
  if (!options_.is_gradient) parts_ = parts;
  const auto size = static_cast<int64_t>(cells_.size());
  if (parts == size || (parts > size && options_.may_grow)) return {};
  return invalid_argument("the TensorArray has " + std::to_string(size) + " elements, not " +
                          std::to_string(parts) + (options_.may_grow ? "" : ", and it cannot grow"));
}

Status TensorArray::refine(const PartialShape& element_shape) {
  const std::lock_guard guard(lock_);
  TROUPE_ASSIGN(options_.element_shape, merge(options_.element_shape, element_shape));
  return {};
}

void TensorArray::close() {
  const std::lock_guard guard(lock_);
  closed_ = true;
  cells_.clear();
}

Result<std::shared_ptr<TensorArray>> TensorArray::gradient(const std::string& source, const Shape& prefix) {
  const std::lock_guard guard(lock_);
  TROUPE_RETURN_IF_FAILED(check_open());
  options_.may_grow = false;
  if (const auto known = gradients_.find(source); known != gradients_.end()) return known->second;
  Options options = options_;
  options.element_shape = concatenate(prefix, options_.element_shape);
  options.read_once = options.is_gradient = true;
  const std::shared_ptr<TensorArray> array(new TensorArray(std::move(options), cells_.size()));
  array->parts_ = parts_;
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (!cells_[i].written) continue;
    array->cells_[i].written = true;
    TROUPE_ASSIGN(array->cells_[i].shape, join(prefix, cells_[i].shape, options_.dtype));
  }
  gradients_[source] = array;
  return array;
}

}  // namespace troupe

// TensorArray: an array of tensors that the nodes of one step write and read by index (features.md F15), each element at most
// once, so that the iterations of a loop may run in any order. The gradient array of an array has an element for each of its
// elements; what is written to one element is summed. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/partial_shape.h"
#include "kernels/core/step_object.h"

namespace troupe {

class TensorArray final : public StepObject {
 public:
  static constexpr int64_t max_elements = 1 << 22;

  struct Options {
    DType dtype = DType::Invalid;
    PartialShape element_shape;
    bool may_grow = false;      ///< a write beyond the end adds elements
    bool read_once = true;      ///< reading an element releases it
    bool equal_shapes = false;  ///< the first element determines the shape of all
    bool is_gradient = false;
  };
  /// Orders the tensors written to one element of a gradient array: their sum has the same bits whichever thread writes first.
  using WriterKey = std::pair<uint64_t, uint64_t>;
  /// What is read from an element: the sum of the terms, or zeros if there are none.
  struct Element {
    Shape shape;
    std::vector<Tensor> terms;
  };

  /// Fails with InvalidArgument if `size` is negative, and with ResourceExhausted if it exceeds max_elements.
  static Result<std::shared_ptr<TensorArray>> make(Options options, int64_t size);

  DType dtype() const { return options_.dtype; }
  /// The functions below fail with InvalidArgument, naming index, shapes and sizes, if the array is closed or the contract of
  /// the op is broken.

  /// Writes element `index`. A gradient array keeps several values of one element.
  Status write(int64_t index, Tensor value, WriterKey key);
  /// Reads element `index`. An element that was never written reads as zeros if its shape is known.
  Result<Element> read(int64_t index);
  Result<int64_t> size();
  /// Prepares for a write of all elements, 0 to parts - 1. Fails unless the array has this size, or may grow to it.
  Status begin_parts(int64_t parts);
  /// Returns the number of elements that a read of all elements reads: the size, or for the gradient array of an array that was
  /// written as a whole, the number of parts then.
  Result<int64_t> parts();
  /// Adds what is known of the shape of all elements.
  Status refine(const PartialShape& element_shape);
  void close();
  /// Returns the gradient array with this name. The first call makes it: as many elements as this array has, whose shapes are
  /// `prefix` followed by those of this array. This array cannot grow afterwards.
  Result<std::shared_ptr<TensorArray>> gradient(const std::string& source, const Shape& prefix);

 private:
  struct Cell {
    std::vector<std::pair<WriterKey, Tensor>> terms;  ///< none: zeros of the shape
    Shape shape;
    bool written = false, read = false, released = false;
  };

  TensorArray(Options options, size_t size) : options_(std::move(options)), cells_(size) {}
  Status check_open() const;
  Result<Cell*> cell_to_write(int64_t index);
  Result<Cell*> cell_to_read(int64_t index);
  Status check_value(const Cell& cell, int64_t index, const Tensor& value);

  std::mutex lock_;
  Options options_;
  bool closed_ = false;
  std::optional<int64_t> parts_;  ///< how many elements were written as a whole
  std::vector<Cell> cells_;
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;
};

}  // namespace troupe

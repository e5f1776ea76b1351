// Table rows: rows of tensors of any type that tables have, without a look at their shapes. Plain values; one thread.
#pragma once

#include <cstring>
#include <string>

#include "messages/values/tensor.h"

namespace troupe {

/// The rows of a tensor, each of the same number of elements.
class ConstRows {
 public:
  ConstRows(const Tensor& tensor, int64_t row_elements)
      : data_(tensor.data()), elements_(static_cast<size_t>(row_elements)),
        bytes_(elements_ * size_of(tensor.dtype())), strings_(tensor.dtype() == DType::String) {}

  const std::byte* row(int64_t i) const { return data_ + static_cast<size_t>(i) * bytes_; }
  size_t elements() const { return elements_; }
  size_t bytes() const { return bytes_; }
  bool strings() const { return strings_; }
  /// Floats are equal if their bits are.
  bool equal(int64_t i, const ConstRows& other, int64_t j) const {
    if (!strings_) return std::memcmp(row(i), other.row(j), bytes_) == 0;
    const auto* const ours = reinterpret_cast<const std::string*>(row(i));
    return std::equal(ours, ours + elements_, reinterpret_cast<const std::string*>(other.row(j)));
  }

 private:
  const std::byte* data_;
  size_t elements_, bytes_;
  bool strings_;
};

/// Copies rows into a tensor of the same type.
class RowCopy {
 public:
  RowCopy(const ConstRows& from, Tensor& to) : from_(from), to_(to.mutable_data()) {}

  void operator()(int64_t from, int64_t to) const {
    const std::byte* const source = from_.row(from);
    std::byte* const target = to_ + static_cast<size_t>(to) * from_.bytes();
    if (from_.strings())
      std::copy_n(reinterpret_cast<const std::string*>(source), from_.elements(),
                  reinterpret_cast<std::string*>(target));
    else if (from_.bytes() == 8)
      std::memcpy(target, source, 8);
    else if (from_.bytes() == 4)
      std::memcpy(target, source, 4);
    else
      std::memcpy(target, source, from_.bytes());
  }

 private:
  const ConstRows from_;
  std::byte* const to_;
};

}  // namespace troupe

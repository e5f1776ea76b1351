// TensorSlice: a box of a tensor's elements, as variables are saved in parts. Plain values, and functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::interop {

struct TensorSlice {
  /// Of each dimension. A length of `all` with start 0 is what a checkpoint says for a whole dimension whose length it does not
  /// repeat; the functions below but slice_key() want lengths.
  std::vector<int64_t> start, length;
  static constexpr int64_t all = -1;

  static TensorSlice whole(const Shape& shape);
  /// The same with the length of each dimension; nothing when it does not lie in a tensor of this shape.
  std::optional<TensorSlice> within(const Shape& shape) const;

  int64_t elements() const;
  /// "2,3:0,4": start and length of each dimension, as TensorFlow writes it.
  std::string text() const;

  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

/// Do both have an element of one tensor?
bool overlap(const TensorSlice& a, const TensorSlice& b);

/// Copies what both have of one tensor from `from`, which holds the elements of the slice `held`, into `to`, which is to hold those
/// of `wanted`. Equal dtypes, in host memory.
void copy_slice(const Tensor& from, const TensorSlice& held, Tensor& to, const TensorSlice& wanted);

/// Where the index of a checkpoint has the part of a variable: TensorFlow's EncodeTensorNameSlice, in the coding of OrderedCode.
std::string slice_key(std::string_view name, const TensorSlice& slice);
/// Such a key begins with a zero byte, as no variable does.
inline bool is_slice_key(std::string_view key) { return key.starts_with('\0'); }
/// For messages.
std::string variable_of(std::string_view slice_key);

}  // namespace troupe::interop

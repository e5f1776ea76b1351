// TensorSlice: a box of the elements of a tensor. Checkpoints store partitioned variables as slices. Plain values and functions
// without state; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::interop {

struct TensorSlice {
  /// The range of elements in each dimension. Checkpoints write start 0 and length `all` for a whole dimension. The functions
  /// below, except for within() and slice_key(), need actual lengths.
  std::vector<int64_t> start, length;
  static constexpr int64_t all = -1;

  static TensorSlice whole(const Shape& shape);
  /// Returns the slice with `all` replaced by actual lengths, or nothing if it does not lie inside a tensor of this shape.
  std::optional<TensorSlice> within(const Shape& shape) const;

  int64_t elements() const;
  /// Returns start and length of each dimension as TensorFlow writes them: "2,3:0,4".
  std::string text() const;

  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

/// Returns whether two slices of one tensor have an element in common.
bool overlap(const TensorSlice& a, const TensorSlice& b);

/// Copies the elements that the slices `held` and `wanted` have in common. `from` holds the elements of `held`; `to` receives those
/// of `wanted`. Both tensors have the same dtype and are in host memory.
void copy_slice(const Tensor& from, const TensorSlice& held, Tensor& to, const TensorSlice& wanted);

/// Returns the key of a part of a variable in the index of a checkpoint: TensorFlow's EncodeTensorNameSlice, encoded by
/// OrderedCode.
std::string slice_key(std::string_view name, const TensorSlice& slice);
/// A slice key begins with a zero byte, which the name of a variable never does.
inline bool is_slice_key(std::string_view key) { return key.starts_with('\0'); }
/// Returns the name of the variable in a slice key, for error messages.
std::string variable_of(std::string_view slice_key);

}  // namespace troupe::interop

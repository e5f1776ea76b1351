// TensorSlice: a box of the elements of a tensor. Checkpoints store partitioned variables as slices. Plain values and functions
// without state; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe {

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

/// The most parts of one variable that are read; the time to check them grows with the square of their number.
inline constexpr size_t max_tensor_parts = 4096;

/// Fails with DataLoss unless the slices, which lie inside the shape, cover each element exactly once.
Status check_cover(std::span<const TensorSlice> slices, const Shape& shape);

/// Copies the elements that the slices `held` and `wanted` have in common. `from` holds the elements of `held`; `to` receives those
/// of `wanted`. Both tensors have the same dtype and are in host memory.
void copy_slice(const Tensor& from, const TensorSlice& held, Tensor& to, const TensorSlice& wanted);

/// A slice in the form of an op's input shape_and_slices: "10 20 0,5:-" is the first five rows of a tensor of shape [10,20].
struct SliceSpec {
  Shape shape;        ///< of the whole tensor
  TensorSlice slice;  ///< as written, with `all` for "-"
  Shape slice_shape;

  /// Returns the slice with actual lengths.
  TensorSlice range() const { return *slice.within(shape); }
  bool is_whole() const { return slice_shape == shape; }
  /// Fails with InvalidArgument, naming the text, if it has another form or the slice lies outside the shape.
  static Result<SliceSpec> parse(std::string_view text, DType dtype);
};

/// Returns the key of a part of a variable in the index of a checkpoint: TensorFlow's EncodeTensorNameSlice, encoded by
/// OrderedCode.
std::string slice_key(std::string_view name, const TensorSlice& slice);
/// A slice key begins with a zero byte, which the name of a variable never does.
inline bool is_slice_key(std::string_view key) { return key.starts_with('\0'); }
/// Returns the name of the variable in a slice key, for error messages.
std::string variable_of(std::string_view slice_key);

}  // namespace troupe

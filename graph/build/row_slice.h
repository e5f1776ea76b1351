// RowSlice: which rows of a larger tensor a part of it holds. A large variable is cut by its rows into parts, each a variable
// of its own, and internal attributes of the parts' nodes say what they are parts of. Checkpoints use them
// to save and restore one logical variable, however it is cut; random nodes use _slice to draw some rows of a larger tensor.
// Plain values; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/ops/attributes.h"
#include "messages/values/shape.h"

#pragma GCC visibility push(default)
namespace troupe {

struct Node;

/// Row i of the part is row first + i * stride of the whole.
struct RowSlice {
  std::string of;    ///< the name of the whole
  int64_t rows = 0;  ///< of the whole
  int64_t first = 0;
  int64_t stride = 1;
  int64_t count = 0;  ///< the number of rows of the part

  int64_t row(int64_t i) const { return first + i * stride; }
  /// Returns whether the whole has all rows of the part.
  bool is_valid() const {
    return count >= 0 && first >= 0 && stride >= 1 && rows >= 0 &&
           (count == 0 || (first < rows && (rows - 1 - first) / stride >= count - 1));
  }
  friend bool operator==(const RowSlice&, const RowSlice&) = default;
};

/// The attribute with the name of the whole.
inline constexpr std::string_view slice_of_attr = "_slice_of";
/// The attribute with the numbers of a slice: {rows, first, stride, count}.
inline constexpr std::string_view slice_attr = "_slice";

/// Marks a node as a part.
void set_row_slice(Attributes& attrs, const RowSlice& slice);
/// Returns what a node of a variable is a part of; nothing if it is none, or if the attributes are not those of a part.
std::optional<RowSlice> row_slice_of(const Node& node);

}  // namespace troupe
#pragma GCC visibility pop

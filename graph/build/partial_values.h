// What is known of integers while a graph is built: the elements of shapes that nodes compute from other shapes, such as
// [shape(x)[0], 10], whose second element is known. Shape functions use them, so that one unknown dimension does not hide the
// others. Pure functions; one thread at a time per graph.
#pragma once

#include <optional>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// Returns the elements of an integer scalar or vector, unknown_dim for each that is not known, or nothing if not even their number
/// is known. Follows Const, Shape, Pack, Concat, ConcatV2, Slice, StridedSlice, Cast and Identity.
std::optional<std::vector<int64_t>> partial_integers(const Graph& graph, Output output);

}  // namespace troupe

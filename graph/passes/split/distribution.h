// How tensors are distributed over devices while a pass splits ops (graph/passes/split/split_ops.h). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

struct Distribution {
  enum class Kind : uint8_t {
    Whole,    ///< B: one tensor, which every device can have
    Split,    ///< S(dimension): one part for each device
    Partial,  ///< P: one term of a sum for each device
  };
  Kind kind = Kind::Whole;
  int64_t dimension = 0;  ///< of Split, at least 0

  bool whole() const { return kind == Kind::Whole; }
  bool partial() const { return kind == Kind::Partial; }
  bool split() const { return kind == Kind::Split; }
  bool split(int64_t by) const { return split() && dimension == by; }
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

inline constexpr Distribution whole_tensor{};
inline constexpr Distribution terms_of_sum{Distribution::Kind::Partial, 0};
inline Distribution split_by(int64_t dimension) { return {Distribution::Kind::Split, dimension}; }

/// The size of a dimension that is split.
struct Extent {
  int64_t size = unknown_dim;
  /// If it is not known: an output of the graph before the pass, and which of its dimensions has the size.
  Output of = {};
  int64_t dimension = 0;

  bool known() const { return size != unknown_dim; }
  friend bool operator==(const Extent& a, const Extent& b) {
    return a.known() ? a.size == b.size : !b.known() && a.of == b.of && a.dimension == b.dimension;
  }
};

/// A tensor in parts, which are outputs of the graph that the pass makes, part i on device i.
struct DistributedTensor {
  Distribution distribution;  ///< not Whole
  Extent extent;              ///< of Split
  std::vector<Output> parts;
};

}  // namespace troupe

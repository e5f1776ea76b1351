// SymbolicShapes: which outputs of a graph have equal shapes, though some of their dimensions are known only when the step runs,
// such as the size of the batch. Each dimension is a number, or a number times a symbol that stands for one unknown size. Plain
// values; one pass computes them in linear time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/passes/graph_draft.h"

namespace troupe {

/// `factor` times the size that the symbol stands for; symbol 0 stands for 1. Equal dimensions have equal sizes.
struct SymbolicDim {
  int64_t factor = 1;
  uint32_t symbol = 0;

  bool is_number() const { return symbol == 0; }
  friend bool operator==(const SymbolicDim&, const SymbolicDim&) = default;
};

class SymbolicShapes {
 public:
  using Dims = std::span<const SymbolicDim>;

  /// `order` has all nodes of the draft, inputs before their consumers.
  SymbolicShapes(const GraphDraft& draft, std::span<const NodeId> order);

  /// Returns the dimensions of an output, or nothing if not even the rank is known or the draft got the node later.
  std::optional<Dims> of(Output output) const;
  /// Returns the dimensions that an output which holds a shape spells out, if they are known.
  std::optional<std::vector<SymbolicDim>> spelled_by(Output shape) const;
  /// Returns true if both outputs have the same shape in every step that computes both.
  bool same(Output a, Output b) const;

 private:
  class Rules;
  static constexpr uint32_t unknown_rank = UINT32_MAX;
  struct Place {
    uint32_t first = 0, rank = unknown_rank;
  };

  void set(Output output, std::span<const SymbolicDim> dims);

  const GraphDraft& draft_;
  std::vector<uint32_t> first_output_;  ///< for each node, the place of its first output
  std::vector<Place> places_;           ///< for each output
  std::vector<SymbolicDim> dims_;
};

}  // namespace troupe

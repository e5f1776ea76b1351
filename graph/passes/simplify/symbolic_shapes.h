// SymbolicShapes: which outputs of a graph have equal shapes, though some of their dimensions are known only when the step runs,
// such as the size of the batch. Each dimension is a number, or a number times a symbol that stands for one unknown size. Plain
// values; they are computed in linear time, and once more each time that a loop turns out to change what it was assumed to keep.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "graph/build/frames.h"
#include "graph/passes/graph_draft.h"

namespace troupe {

/// `factor` times the size that the symbol stands for; symbol 0 stands for 1. Equal dimensions have equal sizes.
struct SymbolicDim {
  int64_t factor = 1;
  uint32_t symbol = 0;

  bool is_number() const { return symbol == 0; }
  friend bool operator==(const SymbolicDim&, const SymbolicDim&) = default;
};
/// The number of dimensions, and of elements of a shape, that are told apart.
inline constexpr size_t max_symbolic_dims = Shape::max_rank + 1;
/// A size of which nothing is known yet.
inline constexpr SymbolicDim unnamed_dim{0, UINT32_MAX};

/// What is known of the shapes, or of the elements, of some tensors.
struct SymbolicFact {
  enum class Kind : uint8_t {
    Unknown,  ///< nothing
    Any,      ///< everything, because there are no tensors
    Known     ///< that all of them are `dims`
  } kind = Kind::Unknown;
  std::vector<SymbolicDim> dims = {};

  static SymbolicFact of(std::vector<SymbolicDim> dims) { return {Kind::Known, std::move(dims)}; }
  bool known() const { return kind == Kind::Known; }
  friend bool operator==(const SymbolicFact&, const SymbolicFact&) = default;
};

/// What is known of an output. If it is a list of tensors (kernels/core/tensor_list.h), of the elements of the list.
struct SymbolicFacts {
  SymbolicFact shape = {};
  SymbolicFact values = {};  ///< the elements of a scalar or vector of integers, such as a shape
};

class SymbolicShapes {
 public:
  using Dims = std::span<const SymbolicDim>;

  /// `order` has all nodes of the draft, inputs before their consumers.
  SymbolicShapes(const GraphDraft& draft, std::span<const NodeId> order);

  /// Returns the dimensions of an output, or nothing if not even the rank is known or the draft got the node later. Inside a loop
  /// they are those of one iteration; of a list, those of each of its elements.
  std::optional<Dims> of(Output output) const { return dims(facts(output).shape); }
  /// Returns the elements of an output that holds a shape, if they are known.
  std::optional<Dims> spelled_by(Output shape) const { return dims(facts(shape).values); }
  /// Returns true if both outputs have the same shape in every step and iteration that computes both.
  bool same(Output a, Output b) const;
  const SymbolicFacts& facts(Output output) const;

 private:
  /// What a fact of a loop variable is assumed to be in every iteration. Empty: what it is at first. Known: this, if it is Any at
  /// first. Unknown: unknown.
  using Assumption = std::optional<SymbolicFact>;
  struct Assumptions {
    Assumption shape, values;
  };

  static std::optional<Dims> dims(const SymbolicFact& fact) {
    return fact.known() ? std::optional(Dims(fact.dims)) : std::nullopt;
  }
  void derive(const GraphDraft& draft, std::span<const NodeId> order);
  void add(std::span<const Node> nodes, const Node& node);
  void name_dims(SymbolicFact& fact, uint64_t place, FrameId frame);
  bool may_use(FrameId frame, uint32_t symbol) const;
  enum class Change : uint8_t { Learn, Drop };
  bool revise(const GraphDraft& draft, Change change);
  bool revise(Assumption& assumption, const SymbolicFact& now, const SymbolicFact& next, FrameId outside,
              Change change) const;
  void assume_nothing(const GraphDraft& draft);

  std::vector<uint32_t> first_output_;         ///< for each node, the place of its first output
  std::vector<SymbolicFacts> facts_;           ///< of each output
  std::vector<FrameId> frames_of_symbols_;     ///< for each symbol, the frame in which it stands for one size
  std::map<uint64_t, uint32_t> symbols_;       ///< for each place of a size that has a symbol of its own
  std::optional<FrameInfo> frames_;            ///< if there are loops
  std::map<NodeId, Assumptions> assumptions_;  ///< for the variables of loops
};

}  // namespace troupe

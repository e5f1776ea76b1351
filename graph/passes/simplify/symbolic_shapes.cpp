#include "graph/passes/simplify/symbolic_shapes.h"

#include <algorithm>

#include "graph/passes/simplify/symbolic_rules.h"

namespace troupe {
namespace {

constexpr int most_passes = 16;  ///< until nothing is assumed of any loop

/// Replaces what a loop variable is at first by what it is assumed to be.
void restrict_to(const std::optional<SymbolicFact>& assumption, SymbolicFact& fact) {
  if (!assumption) return;
  const bool fits = assumption->known() && fact.kind == SymbolicFact::Kind::Any;
  fact = fits ? *assumption : SymbolicFact();
}

/// Adds what shape inference knows.
void complete(SymbolicFact& fact, const PartialShape& known) {
  if (!known.known_rank()) return;
  if (!fact.known() || fact.dims.size() != known.rank())
    fact = SymbolicFact::of(std::vector(known.rank(), unnamed_dim));
  for (size_t axis = 0; axis < known.rank(); ++axis)
    if (known[axis] != unknown_dim) fact.dims[axis] = {known[axis], 0};
}

}  // namespace

SymbolicShapes::SymbolicShapes(const GraphDraft& draft, std::span<const NodeId> order) {
  uint32_t outputs = 0;
  bool loops = false;
  for (const Node& node : draft.nodes) {
    first_output_.push_back(outputs);
    outputs += static_cast<uint32_t>(node.output_types.size());
    loops = loops || flow_kind(node) == FlowKind::Enter;
  }
  facts_.resize(outputs);
  frames_of_symbols_.push_back(root_frame);  // of symbol 0
  if (loops)
    if (auto frames = assign_frames(draft.nodes)) frames_ = std::move(*frames);
  derive(draft, order);
  for (int pass = 1; revise(draft, Change::Learn) || revise(draft, Change::Drop); ++pass) {
    if (pass == most_passes) assume_nothing(draft);
    derive(draft, order);
  }
}

/// Derives all facts from the assumptions.
void SymbolicShapes::derive(const GraphDraft& draft, std::span<const NodeId> order) {
  std::ranges::fill(facts_, SymbolicFacts());
  for (const NodeId id : order) add(draft.nodes, draft.node(id));
}

void SymbolicShapes::add(std::span<const Node> nodes, const Node& node) {
  const FrameId frame = frames_ ? frames_->of_outputs[node.id] : root_frame;
  const auto assumed = assumptions_.find(node.id);
  for (uint32_t i = 0; i < node.output_types.size(); ++i) {
    SymbolicFacts facts = symbolic_facts(nodes, *this, node, i);
    if (assumed != assumptions_.end() && i == 0) {
      restrict_to(assumed->second.shape, facts.shape);
      restrict_to(assumed->second.values, facts.values);
    }
    if (node.output_types[i].dtype != DType::Variant) complete(facts.shape, node.output_shapes[i]);
    const uint64_t place = first_output_[node.id] + i;
    name_dims(facts.shape, 2 * place, frame);
    name_dims(facts.values, 2 * place + 1, frame);
    // A variable may get a value of another size during the step.
    const bool fixed =
        !node.output_types[i].is_ref || std::ranges::all_of(facts.shape.dims, &SymbolicDim::is_number);
    if (fixed) facts_[place] = std::move(facts);
  }
}

/// A size that nobody knows gets a symbol of its own, as does one that belongs to another frame: while a loop ran, it had several
/// values.
void SymbolicShapes::name_dims(SymbolicFact& fact, uint64_t place, FrameId frame) {
  for (size_t axis = 0; axis < fact.dims.size(); ++axis) {
    SymbolicDim& dim = fact.dims[axis];
    if (dim != unnamed_dim && may_use(frame, dim.symbol)) continue;
    const auto [at, is_new] =
        symbols_.try_emplace(place * max_symbolic_dims + axis, frames_of_symbols_.size());
    if (is_new) frames_of_symbols_.push_back(frame);
    dim = {1, at->second};
  }
}

/// Returns whether the symbol belongs to the frame or to one around it.
bool SymbolicShapes::may_use(FrameId frame, uint32_t symbol) const {
  const FrameId owner = frames_of_symbols_[symbol];
  while (frame != owner && frame != root_frame) frame = frames_->frames[frame].parent;
  return frame == owner;
}

/// Learns what lists that are empty at first get in an iteration, or drops what was assumed of loop variables that an iteration
/// changes. Returns whether there are any.
bool SymbolicShapes::revise(const GraphDraft& draft, Change change) {
  bool changed = false;
  for (const Node& node : draft.nodes) {
    if (!frames_ || !is_loop_variable(draft.nodes, node)) continue;
    const SymbolicFacts &now = facts({node.id, 0}), &next = facts(node.inputs[1]);
    const FrameId outside = frames_->frames[frames_->of_node[node.id]].parent;
    Assumptions& assumed = assumptions_[node.id];
    const bool shape = revise(assumed.shape, now.shape, next.shape, outside, change);
    const bool values = revise(assumed.values, now.values, next.values, outside, change);
    changed = changed || shape || values;
  }
  return changed;
}

bool SymbolicShapes::revise(Assumption& assumption, const SymbolicFact& now, const SymbolicFact& next,
                            FrameId outside, Change change) const {
  using Kind = SymbolicFact::Kind;
  const bool assumes_nothing = assumption && !assumption->known();
  if (assumes_nothing || now.kind == Kind::Unknown || next.kind == Kind::Any || now == next) return false;
  if (change == Change::Drop) {
    assumption = SymbolicFact();
    return true;
  }
  const bool lasts =
      std::ranges::all_of(next.dims, [&](SymbolicDim dim) { return may_use(outside, dim.symbol); });
  if (now.kind != Kind::Any || !next.known() || !lasts) return false;
  assumption = next;
  return true;
}

void SymbolicShapes::assume_nothing(const GraphDraft& draft) {
  for (const Node& node : draft.nodes)
    if (is_loop_variable(draft.nodes, node)) assumptions_[node.id] = {SymbolicFact(), SymbolicFact()};
}

const SymbolicFacts& SymbolicShapes::facts(Output output) const {
  static const SymbolicFacts nothing;
  return output.node < first_output_.size() ? facts_[first_output_[output.node] + output.index] : nothing;
}

bool SymbolicShapes::same(Output a, Output b) const {
  if (a == b) return true;
  const auto first = of(a), second = of(b);
  return first && second && std::ranges::equal(*first, *second);
}

}  // namespace troupe

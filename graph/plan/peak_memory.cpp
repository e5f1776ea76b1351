#include "graph/plan/peak_memory.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "graph/build/shape_context.h"
#include "graph/plan/step_state.h"

namespace troupe {
namespace {

/// Returns true if output 0 of the node is the memory of its input 0.
bool forwards(const Node& node) {
  static const std::set<std::string_view> ops = {"Identity",        "IdentityN",  "StopGradient",
                                                 "PreventGradient", "Snapshot",   "Reshape",
                                                 "Squeeze",         "ExpandDims", "ReadVariableOp"};
  return ops.contains(node.type());
}

/// Returns true if the kernel may write its output over an input that nobody else reads.
bool works_in_place(const Node& node) {
  return node.op->shape == unchanged_shape || node.op->shape == broadcast_shape ||
         node.type() == "_FusedElementwise" || node.type() == "AddN" || node.type() == "BiasAdd";
}

/// Plays a step with sizes in place of tensors.
class Rehearsal {
 public:
  explicit Rehearsal(const Plan& plan)
      : plan_(plan), state_(plan), slots_(state_.slots(), nothing), outputs_(plan.max_outputs(), nothing) {}

  PeakMemory run() {
    state_.begin();
    for (Activation activation; state_.next(activation);) run(activation);
    return result_;
  }

 private:
  static constexpr size_t nothing = SIZE_MAX;  ///< no tensor, or one that does not count

  struct Tensor {
    size_t bytes = 0;
    uint32_t readers = 0;  ///< slots that hold it
  };
  struct Values {
    Rehearsal& rehearsal;
    static bool dead(uint32_t) { return false; }
    void put(uint32_t output, uint32_t slot, bool) { rehearsal.put(rehearsal.outputs_[output], slot); }
    void drop() { rehearsal.drop_outputs(); }
    void pass(uint32_t from, uint32_t to, bool) { rehearsal.put(rehearsal.slots_[from], to); }
    void clear(uint32_t first, uint32_t count) { rehearsal.clear(first, count); }
    void grow(uint32_t slots) { rehearsal.slots_.resize(slots, nothing); }
  };

  void run(Activation activation) {
    const PlanNode& node = plan_.nodes()[activation.node];
    const uint32_t first = state_.first_slot(activation);
    for (uint32_t i = 0; i < node.outputs; ++i) outputs_[i] = make_output(node, i, first);
    result_.bytes = std::max(result_.bytes, in_use_);
    if (node.kind != PlanKind::Fetch) clear(first, node.inputs);  // what is fetched stays until the end
    state_.done(activation, Values{*this});
  }

  size_t make_output(const PlanNode& plan_node, uint32_t output, uint32_t first_slot) {
    const Node& node = plan_.graph().node(plan_node.node);
    if (plan_node.kind != PlanKind::Plain || node.type() == "Const" || node.output_types[output].is_ref ||
        is_local(node.output_types[output].dtype))
      return nothing;
    if (plan_node.inputs > output && forwards(node)) return hold(slots_[first_slot + output]);
    const std::optional<size_t> bytes = bytes_of(node, output);
    if (!bytes) {
      ++result_.unknown;
      return nothing;
    }
    if (output == 0 && works_in_place(node))
      for (uint32_t i = 0; i < plan_node.inputs; ++i)
        if (const size_t input = slots_[first_slot + i];
            input != nothing && tensors_[input].readers == 1 && tensors_[input].bytes == *bytes)
          return hold(input);
    return add(*bytes);
  }
  static std::optional<size_t> bytes_of(const Node& node, uint32_t output) {
    const auto shape = node.output_shapes[output].to_shape(node.output_types[output].dtype);
    if (!shape) return std::nullopt;
    return static_cast<size_t>(shape->elements()) * size_of(node.output_types[output].dtype);
  }

  size_t add(size_t bytes) {
    in_use_ += bytes;
    if (free_.empty()) {
      free_.push_back(tensors_.size());
      tensors_.emplace_back();
    }
    const size_t tensor = free_.back();
    free_.pop_back();
    tensors_[tensor] = {bytes, 1};
    return tensor;
  }
  size_t hold(size_t tensor) {
    if (tensor != nothing) ++tensors_[tensor].readers;
    return tensor;
  }
  void release(size_t& tensor) {
    if (tensor != nothing && --tensors_[tensor].readers == 0) {
      in_use_ -= tensors_[tensor].bytes;
      free_.push_back(tensor);
    }
    tensor = nothing;
  }
  void put(size_t tensor, uint32_t slot) { slots_[slot] = hold(tensor); }
  void clear(uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) release(slots_[i]);
  }
  void drop_outputs() {
    for (size_t& output : outputs_) release(output);
  }

  const Plan& plan_;
  StepState state_;
  std::vector<Tensor> tensors_;
  std::vector<size_t> free_;             ///< indices of tensors that no longer exist
  std::vector<size_t> slots_, outputs_;  ///< indices of tensors
  size_t in_use_ = 0;
  PeakMemory result_;
};

}  // namespace

Result<PeakMemory> estimate_peak(const Plan& plan) {
  for (const PlanNode& node : plan.nodes())
    if (node.kind != PlanKind::Plain && node.kind != PlanKind::Feed && node.kind != PlanKind::Fetch)
      return unimplemented("the memory of steps with branches or loops cannot be estimated");
  return Rehearsal(plan).run();
}

}  // namespace troupe

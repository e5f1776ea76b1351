// StepState: what changes while a step runs: counts of inputs that have not arrived, deadness, loop iterations, and the nodes that
// are ready. It knows nodes and slots by index only; its user moves the values when done() says so. Owned by one step, used by the
// thread that drives the step; no locks. It can be used again for the next step of the same plan, and then allocates nothing.
//
// The rules are those of features.md F1-F11. Of the ready nodes the latest comes first, because
// its inputs are still in cache, and so one branch ends before the next begins. Nodes that are
// carried out elsewhere, and dead nodes, which only free memory, come before all others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/plan/activation.h"
#include "graph/plan/plan.h"

namespace troupe {

/// The `Values` argument of done() accesses the node's outputs and the slots:
///   bool dead(output)               returns true if this output carries no value
///   void put(output, slot, last)    puts the output into the slot; if `last`, the value may be moved
///   void drop()                     frees the outputs, which are not needed any more
///   void pass(from, to, last)       puts the value of one slot into another; if `last`, the value may be moved
///   void clear(first, count)        frees what these slots still hold
///   void grow(slots)                makes room for this number of slots
/// put() and pass() are never called for control edges or dead outputs.
class StepState {
 public:
  explicit StepState(const Plan& plan);
  StepState(const StepState&) = delete;
  StepState& operator=(const StepState&) = delete;

  /// Begins a step: the nodes without inputs are ready.
  void begin();
  /// Returns the number of slots. done() may increase it.
  uint32_t slots() const { return slots_; }

  /// Takes the next ready node. Returns false if no node is ready now.
  bool next(Activation& activation) {
    std::vector<Activation>& from = prompt_.empty() ? ready_ : prompt_;
    if (from.empty()) return false;
    activation = from.back();
    from.pop_back();
    return true;
  }
  /// Makes an activation ready again that next() returned but that was not run.
  void put_back(Activation activation) { ready_.push_back(activation); }
  /// Call exactly once per activation, after the node has run (dead nodes do not run): sends its outputs along its edges.
  template <class Values>
  void done(Activation activation, Values&& values) {
    const PlanNode& node = nodes_[activation.node];
    if (has_loops_) return done_in_loops(node, activation, values);
    spread(node, 0, activation.dead(), values);
    values.drop();
  }
  /// Forgets the ready nodes, so that no node starts any more.
  void stop();

  /// Returns the first slot of the activation's inputs.
  uint32_t first_slot(Activation activation) const {
    return nodes_[activation.node].first_slot + iterations_[activation.place >> 1].slot_base;
  }
  Where where(Activation activation) const;
  /// For the end of a step: returns true if every node has run and every loop has ended, so that no slot holds
  /// a value. If some input of a loop never arrives, nodes are left waiting, and the step ends nevertheless.
  bool complete() const {
    return !has_loops_ ||
           (live_instances_ == 0 && iterations_[0].started == plan_.frames()[root_frame].nodes);
  }

 private:
  static constexpr uint32_t none = UINT32_MAX;

  /// One iteration of an instance of a frame. Iteration 0 stands for everything outside the loops.
  /// Adding a base to the id of a node or slot, modulo 2^32, gives the index of its count or value.
  struct Iteration {
    uint32_t count_base = 0, slot_base = 0;
    uint32_t first_child = 0;  ///< an index into children_
    uint32_t instance = none;
    uint32_t next = none;      ///< the following iteration, if it has begun
    uint32_t outstanding = 0;  ///< the number of activations that are ready or running
    uint32_t instances = 0;    ///< the number of live instances of child frames
    uint32_t started = 0;      ///< the number of activations so far
    uint64_t number = 0;
  };
  struct Invariant {
    PlanId enter;
    bool dead;
  };
  /// One run of a loop: a frame that was entered from a certain iteration of
  /// its parent. Its live iterations are those from `oldest` to `newest`.
  struct Instance {
    FrameId frame = root_frame;
    uint32_t parent = none;  ///< the iteration from which it was entered
    uint32_t enters_to_come = 0;
    uint32_t iterations = 0;
    uint64_t next_number = 0;  ///< the number of the iteration to start next
    uint32_t oldest = none, newest = none;
    uint32_t held = 0;  ///< the first slot of its held values
    uint64_t key = 0;
    std::vector<Invariant> invariants;
    std::vector<PlanId> deferred;    ///< NextIterations that wait until an iteration ends
    std::vector<PlanId> dead_exits;  ///< the dead Exits of the newest iteration
  };
  /// A `Values` that delivers a value held in a slot.
  template <class Values>
  struct Held {
    Values& values;
    uint32_t slot;
    bool keep;
    bool dead(uint32_t) const { return false; }
    void put(uint32_t, uint32_t to, bool last) { values.pass(slot, to, last && !keep); }
  };

  template <class Values>
  void spread(const PlanNode& node, uint32_t iteration, bool dead, Values& values);
  template <class Values>
  void reach_merge(const PlanEdge& edge, uint32_t iteration, Values& values);
  void reach_merge_control(const PlanEdge& edge, uint32_t iteration);
  void reach_dead(const PlanEdge& edge, uint32_t iteration);
  void push(const PlanEdge& edge, uint32_t iteration, bool dead);

  template <class Values>
  void done_in_loops(const PlanNode& node, Activation activation, Values& values);
  template <class Values>
  void enter(const PlanNode& node, Activation activation, Values& values);
  template <class Values>
  void next_iteration(const PlanNode& node, Activation activation, Values& values);
  template <class Values>
  void spread_held(PlanId id, uint32_t iteration, uint32_t slot, bool dead, bool keep, Values& values);
  template <class Values>
  uint32_t start_iteration(uint32_t at, Values& values);
  template <class Values>
  void clean_up(uint32_t iteration, Values& values);

  template <class Values>
  uint32_t new_iteration(uint32_t at, Values& values);
  template <class Values>
  uint32_t new_instance(FrameId frame, uint32_t parent, Values& values);
  template <class Values>
  void free_iteration(uint32_t iteration, Values& values);
  template <class Values>
  uint32_t delete_instance(uint32_t at, Values& values);

  bool is_done(uint32_t iteration) const {
    const Iteration& it = iterations_[iteration];
    const Instance& instance = instances_[it.instance];
    return it.outstanding == 0 && it.instances == 0 && instance.oldest == iteration &&
           instance.enters_to_come == 0;
  }
  uint32_t find_instance(FrameId frame, uint32_t parent) const;
  uint32_t take_instance(FrameId frame, uint32_t parent);
  uint32_t take_iteration(uint32_t at);
  static void reset(Instance& instance);
  void free_instance(uint32_t at);
  void free_all();

  const Plan& plan_;
  const PlanNode* nodes_;
  const PlanEdge* edges_;
  const bool has_loops_;
  uint32_t slots_ = 0;
  std::vector<PendingCount> counts_;
  std::vector<Activation> ready_, prompt_;
  std::vector<Iteration> iterations_;
  std::vector<Instance> instances_;
  std::vector<uint32_t> children_;  ///< for each iteration, the instance of each child frame of its frame
  std::vector<std::vector<uint32_t>> free_iterations_, free_instances_;  ///< for each frame
  uint32_t live_instances_ = 0;
};

// Functions for all plans

inline void StepState::push(const PlanEdge& edge, uint32_t iteration, bool dead) {
  if (dead && nodes_[edge.target].kind == PlanKind::ControlTrigger) dead = false;
  if (has_loops_) {
    ++iterations_[iteration].outstanding;
    ++iterations_[iteration].started;
  }
  const bool first = dead || (edge.flags & PlanEdge::ToPrompt) != 0;
  (first ? prompt_ : ready_).push_back({edge.target, iteration << 1 | uint32_t{dead}});
}

inline void StepState::reach_merge_control(const PlanEdge& edge, uint32_t iteration) {
  PendingCount& count = counts_[edge.target + iterations_[iteration].count_base];
  count -= merge_control;
  const bool has_live_input = (count & (merge_input - 1)) == 0, all_dead = count == 1;
  if (has_live_input || all_dead) push(edge, iteration, all_dead);
}

inline void StepState::reach_dead(const PlanEdge& edge, uint32_t iteration) {
  const bool to_merge = (edge.flags & PlanEdge::ToMerge) != 0;
  if (to_merge && (edge.flags & PlanEdge::Control) != 0) return reach_merge_control(edge, iteration);
  PendingCount& count = counts_[edge.target + iterations_[iteration].count_base];
  count = to_merge ? count - merge_input : (count - 1) | dead_input;
  if (count == (to_merge ? 1 : dead_input)) push(edge, iteration, true);
}

template <class Values>
void StepState::reach_merge(const PlanEdge& edge, uint32_t iteration, Values& values) {
  if ((edge.flags & PlanEdge::Control) != 0) return reach_merge_control(edge, iteration);
  if (values.dead(edge.output)) return reach_dead(edge, iteration);
  const Iteration& place = iterations_[iteration];
  PendingCount& count = counts_[edge.target + place.count_base];
  if ((count & 1) == 0) return;  // a live input has arrived before, and only the first one counts
  count &= ~PendingCount{1};
  values.put(edge.output, edge.slot + place.slot_base, (edge.flags & PlanEdge::Last) != 0);
  if ((count & (merge_input - 1)) == 0) push(edge, iteration, false);
}

template <class Values>
void StepState::spread(const PlanNode& node, uint32_t iteration, bool dead, Values& values) {
  const PlanEdge* const end = edges_ + node.last_edge;
  if (dead) {
    for (const PlanEdge* edge = edges_ + node.first_edge; edge != end; ++edge) reach_dead(*edge, iteration);
    return;
  }
  const uint32_t count_base = iterations_[iteration].count_base, slot_base = iterations_[iteration].slot_base;
  for (const PlanEdge* edge = edges_ + node.first_edge; edge != end; ++edge) {
    if ((edge->flags & PlanEdge::ToMerge) != 0) {
      reach_merge(*edge, iteration, values);
      continue;
    }
    PendingCount& count = counts_[edge->target + count_base];
    --count;
    if ((edge->flags & PlanEdge::Control) == 0) {
      if (values.dead(edge->output))
        count |= dead_input;
      else
        values.put(edge->output, edge->slot + slot_base, (edge->flags & PlanEdge::Last) != 0);
    }
    if ((count & ~dead_input) == 0) push(*edge, iteration, count != 0);
  }
}

// Functions for plans with loops

template <class Values>
void StepState::done_in_loops(const PlanNode& node, Activation activation, Values& values) {
  const uint32_t iteration = activation.place >> 1;
  switch (node.kind) {
    case PlanKind::Enter:
    case PlanKind::ConstantEnter: enter(node, activation, values); break;
    case PlanKind::Exit: {
      Instance& instance = instances_[iterations_[iteration].instance];
      if (!activation.dead())
        spread(node, instance.parent, false, values);
      else if (iteration == instance.newest)
        instance.dead_exits.push_back(activation.node);
      break;
    }
    case PlanKind::NextIteration:
      if (!activation.dead()) next_iteration(node, activation, values);
      break;
    default: spread(node, iteration, activation.dead(), values);
  }
  values.drop();  // before the iteration ends, because the next iteration uses the same slots
  --iterations_[iteration].outstanding;
  if (iteration != 0) clean_up(iteration, values);
}

template <class Values>
void StepState::enter(const PlanNode& node, Activation activation, Values& values) {
  const uint32_t existing = find_instance(node.child, activation.place >> 1);
  const uint32_t at = existing != none ? existing : new_instance(node.child, activation.place >> 1, values);
  const bool dead = activation.dead();
  if (node.kind == PlanKind::Enter) {
    spread(node, instances_[at].oldest, dead,
           values);  // iteration 0, which lives until every Enter has arrived
  } else {
    const uint32_t slot = instances_[at].held + node.index;
    if (!dead) values.put(0, slot, true);
    instances_[at].invariants.push_back({activation.node, dead});
    for (uint32_t i = instances_[at].oldest; i != none; i = iterations_[i].next)
      spread_held(activation.node, i, slot, dead, true, values);
  }
  --instances_[at].enters_to_come;
  clean_up(instances_[at].oldest, values);
}

template <class Values>
void StepState::next_iteration(const PlanNode& node, Activation activation, Values& values) {
  const uint32_t iteration = activation.place >> 1, at = iterations_[iteration].instance;
  if (iteration != instances_[at].newest) return spread(node, iterations_[iteration].next, false, values);
  if (instances_[at].iterations < plan_.frames()[node.frame].parallel_iterations)
    return spread(node, start_iteration(at, values), false, values);
  values.put(0, instances_[at].held + node.index, true);
  instances_[at].deferred.push_back(activation.node);
}

template <class Values>
void StepState::spread_held(PlanId id, uint32_t iteration, uint32_t slot, bool dead, bool keep,
                            Values& values) {
  Held<Values> held{values, slot, keep};
  spread(nodes_[id], iteration, dead, held);
}

template <class Values>
uint32_t StepState::start_iteration(uint32_t at, Values& values) {
  const uint32_t iteration = new_iteration(at, values);
  Instance& instance = instances_[at];
  instance.dead_exits.clear();
  for (const PlanId node : instance.deferred)
    spread_held(node, iteration, instance.held + nodes_[node].index, false, false, values);
  instance.deferred.clear();
  for (const Invariant& invariant : instance.invariants)
    spread_held(invariant.enter, iteration, instance.held + nodes_[invariant.enter].index, invariant.dead,
                true, values);
  return iteration;
}

// Ends an iteration if it is done, and then the iterations after it. If that
// ends its frame, continues with the iteration of the parent frame (F10).
template <class Values>
void StepState::clean_up(uint32_t iteration, Values& values) {
  while (iteration != 0 && is_done(iteration)) {
    const uint32_t at = iterations_[iteration].instance;
    free_iteration(iteration, values);
    if (!instances_[at].deferred.empty()) start_iteration(at, values);
    const bool frame_done = instances_[at].iterations == 0 && instances_[at].enters_to_come == 0;
    iteration = frame_done ? delete_instance(at, values) : instances_[at].oldest;
  }
}

template <class Values>
uint32_t StepState::new_iteration(uint32_t at, Values& values) {
  const FrameId frame = instances_[at].frame;
  const bool fresh = free_iterations_[frame].empty();
  const uint32_t iteration = take_iteration(at);
  if (fresh) values.grow(slots_);
  return iteration;
}

template <class Values>
uint32_t StepState::new_instance(FrameId frame, uint32_t parent, Values& values) {
  const uint32_t at = take_instance(frame, parent);
  values.grow(slots_);
  new_iteration(at, values);
  return at;
}

template <class Values>
void StepState::free_iteration(uint32_t iteration, Values& values) {
  const Iteration& ended = iterations_[iteration];
  Instance& instance = instances_[ended.instance];
  const PlanFrame& frame = plan_.frames()[instance.frame];
  if (ended.started != frame.nodes) values.clear(frame.first_slot + ended.slot_base, frame.slots);
  --instance.iterations;
  instance.oldest = ended.next;
  free_iterations_[instance.frame].push_back(iteration);
}

// Returns the iteration from which the instance was entered.
template <class Values>
uint32_t StepState::delete_instance(uint32_t at, Values& values) {
  Instance& instance = instances_[at];
  const PlanFrame& frame = plan_.frames()[instance.frame];
  for (const PlanId exit : instance.dead_exits) spread(nodes_[exit], instance.parent, true, values);
  if (frame.held != 0) values.clear(instance.held, frame.held);
  free_instance(at);
  return instance.parent;
}

}  // namespace troupe

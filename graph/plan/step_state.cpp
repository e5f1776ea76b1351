#include "graph/plan/step_state.h"

namespace troupe {

StepState::StepState(const Plan& plan)
    : plan_(plan), nodes_(plan.nodes().data()), edges_(plan.edges().data()), has_loops_(plan.has_loops()),
      slots_(plan.frames()[root_frame].slots), counts_(plan.frames()[root_frame].nodes),
      children_(plan.frames()[root_frame].children, none), free_iterations_(plan.frames().size()),
      free_instances_(plan.frames().size()) {
  iterations_.emplace_back();
  ready_.reserve(counts_.size());
  prompt_.reserve(counts_.size());
}

void StepState::begin() {
  stop();
  if (live_instances_ != 0) free_all();  // the previous step did not run to its end
  std::copy_n(plan_.pending().begin(), plan_.frames()[root_frame].nodes, counts_.begin());
  const auto roots = plan_.roots();
  iterations_[0].outstanding = iterations_[0].started = static_cast<uint32_t>(roots.size());
  for (size_t i = roots.size(); i-- != 0;)
    (nodes_[roots[i]].prompt ? prompt_ : ready_).push_back({roots[i], 0});
}

void StepState::stop() {
  ready_.clear();
  prompt_.clear();
}

Where StepState::where(Activation activation) const {
  const Iteration& iteration = iterations_[activation.place >> 1];
  if (iteration.instance == none) return {};
  return {instances_[iteration.instance].key, iteration.number};
}

uint32_t StepState::find_instance(FrameId frame, uint32_t parent) const {
  return children_[iterations_[parent].first_child + plan_.frames()[frame].child_index];
}

uint32_t StepState::take_instance(FrameId id, uint32_t parent) {
  const PlanFrame& frame = plan_.frames()[id];
  std::vector<uint32_t>& idle = free_instances_[id];
  uint32_t at = static_cast<uint32_t>(instances_.size());
  if (idle.empty()) {
    instances_.emplace_back();
    instances_[at].frame = id;
    instances_[at].held = slots_;
    slots_ += frame.held;
  } else {
    at = idle.back();
    idle.pop_back();
  }
  Instance& instance = instances_[at];
  instance.parent = parent;
  instance.enters_to_come = frame.enters;
  instance.key = frame_key(parent == 0 ? 0 : instances_[iterations_[parent].instance].key,
                           iterations_[parent].number, frame.name_hash);
  children_[iterations_[parent].first_child + frame.child_index] = at;
  ++iterations_[parent].instances;
  ++live_instances_;
  return at;
}

// Adds an iteration to an instance.
uint32_t StepState::take_iteration(uint32_t at) {
  Instance& instance = instances_[at];
  const PlanFrame& frame = plan_.frames()[instance.frame];
  std::vector<uint32_t>& idle = free_iterations_[instance.frame];
  uint32_t index = static_cast<uint32_t>(iterations_.size());
  if (idle.empty()) {
    Iteration& fresh = iterations_.emplace_back();
    fresh.count_base = static_cast<uint32_t>(counts_.size()) - frame.first_node;
    fresh.slot_base = slots_ - frame.first_slot;
    fresh.first_child = static_cast<uint32_t>(children_.size());
    counts_.resize(counts_.size() + frame.nodes);
    children_.resize(children_.size() + frame.children, none);
    slots_ += frame.slots;
  } else {
    index = idle.back();
    idle.pop_back();
  }
  Iteration& iteration = iterations_[index];
  std::copy_n(plan_.pending().begin() + frame.first_node, frame.nodes,
              counts_.begin() + static_cast<uint32_t>(iteration.count_base + frame.first_node));
  iteration.instance = at;
  iteration.next = none;
  iteration.outstanding = iteration.started = iteration.instances = 0;
  iteration.number = instance.next_number++;
  if (instance.iterations++ == 0)
    instance.oldest = index;
  else
    iterations_[instance.newest].next = index;
  instance.newest = index;
  return index;
}

void StepState::reset(Instance& instance) {
  instance.invariants.clear();
  instance.deferred.clear();
  instance.dead_exits.clear();
  instance.next_number = 0;
}

void StepState::free_instance(uint32_t at) {
  Instance& instance = instances_[at];
  reset(instance);
  const PlanFrame& frame = plan_.frames()[instance.frame];
  children_[iterations_[instance.parent].first_child + frame.child_index] = none;
  --iterations_[instance.parent].instances;
  free_instances_[instance.frame].push_back(at);
  --live_instances_;
}

// Frees all iterations and instances after a step that did not run to its end.
void StepState::free_all() {
  for (std::vector<uint32_t>& idle : free_iterations_) idle.clear();
  for (uint32_t i = 1; i < iterations_.size(); ++i)
    free_iterations_[instances_[iterations_[i].instance].frame].push_back(i);
  for (std::vector<uint32_t>& idle : free_instances_) idle.clear();
  for (uint32_t at = 0; at < instances_.size(); ++at) {
    instances_[at].iterations = 0;
    instances_[at].oldest = instances_[at].newest = none;
    reset(instances_[at]);
    free_instances_[instances_[at].frame].push_back(at);
  }
  std::fill(children_.begin(), children_.end(), none);
  iterations_[0].instances = 0;
  live_instances_ = 0;
}

}  // namespace troupe

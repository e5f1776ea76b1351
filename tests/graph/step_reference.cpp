#include "tests/graph/step_reference.h"

#include <algorithm>
#include <vector>

#include "graph/plan/plan.h"
#include "tests/graph/flow_graph.h"

namespace troupe::testing {
namespace {

/// The iterations in which a node runs, from the outermost loop to its own.
struct Step {
  FrameId frame;
  uint64_t iteration;
  friend auto operator<=>(const Step&, const Step&) = default;
};
using Path = std::vector<Step>;

Path inner(Path path, FrameId frame, uint64_t iteration) {
  path.push_back({frame, iteration});
  return path;
}

Path outer(Path path) {
  path.pop_back();
  return path;
}

class Reference {
 public:
  explicit Reference(const Graph& graph) : graph_(graph), frames_(value_or_throw(assign_frames(graph))) {
    const auto plan = value_or_throw(Plan::make(std::make_shared<const Graph>(graph), {}, {}));
    for (const PlanFrame& frame : plan->frames()) hashes_.push_back(frame.name_hash);
  }

  Meaning run_all() {
    visit(root_frame, {});
    return std::move(result_);
  }

 private:
  uint64_t key(const Path& path) const {
    uint64_t result = 0, iteration = 0;
    for (const Step& step : path) {
      result = frame_key(result, iteration, hashes_[step.frame]);
      iteration = step.iteration;
    }
    return result;
  }

  /// Runs everything in this iteration and in the loops inside it.
  void visit(FrameId frame, const Path& path) {
    for (const Node& node : graph_.nodes())
      if (frames_.of_node[node.id] == frame)
        if (const Ran ran = run(node.id, path); ran.kind != Ran::Never)
          result_.ran[{node.id, key(path), path.empty() ? 0 : path.back().iteration}] = ran;
    for (FrameId child = 1; child < frames_.frames.size(); ++child)
      if (frames_.frames[child].parent == frame && exists(inner(path, child, 0))) {
        result_.ends = result_.ends && completes(child, path);
        for (uint64_t i = 0; exists(inner(path, child, i)); ++i) visit(child, inner(path, child, i));
      }
  }

  /// Iteration 0 begins with the first Enter, iteration i + 1 with the first live NextIteration of iteration i (F5, F8).
  bool exists(const Path& path) {
    if (path.empty()) return true;
    const FrameId frame = path.back().frame;
    const uint64_t iteration = path.back().iteration;
    if (!exists(outer(path))) return false;
    if (iteration == 0) {
      const auto& enters = frames_.frames[frame].enters;
      return std::any_of(enters.begin(), enters.end(),
                         [&](NodeId enter) { return run(enter, outer(path)).kind != Ran::Never; });
    }
    const Path before = inner(outer(path), frame, iteration - 1);
    return std::any_of(graph_.nodes().begin(), graph_.nodes().end(), [&](const Node& node) {
      return flow_kind(node) == FlowKind::NextIteration && frames_.of_node[node.id] == frame &&
             run(node.id, before).kind == Ran::Live;
    });
  }

  /// Returns true if every Enter of the frame has arrived, and every Enter
  /// of the frames inside it. Only then its dead Exits count (F9, F10).
  bool completes(FrameId frame, const Path& parent) {
    for (const NodeId enter : frames_.frames[frame].enters)
      if (run(enter, parent).kind == Ran::Never) return false;
    for (FrameId child = 1; child < frames_.frames.size(); ++child)
      if (frames_.frames[child].parent == frame)
        for (uint64_t i = 0; exists(inner(parent, frame, i)); ++i)
          if (exists(inner(inner(parent, frame, i), child, 0)) && !completes(child, inner(parent, frame, i)))
            return false;
    return true;
  }

  Ran exit(NodeId node, const Path& path) {
    const FrameId frame = frames_.of_node[node];
    uint64_t i = 0;
    for (; exists(inner(path, frame, i)); ++i)
      if (const Ran ran = run(node, inner(path, frame, i)); ran.kind == Ran::Live) return ran;
    if (i == 0 || !completes(frame, path)) return {};
    return run(node, inner(path, frame, i - 1));
  }

  /// Returns what arrives along an edge from `source` to a node at `path`.
  Ran arrival(NodeId source, const Path& path) {
    const Node& node = graph_.node(source);
    switch (flow_kind(node)) {
      case FlowKind::Enter:
        if (path.back().iteration != 0 && !node.attrs.get<bool>("is_constant")) return {};
        return run(source, outer(path));
      case FlowKind::Exit: return exit(source, path);
      case FlowKind::NextIteration: {
        if (path.back().iteration == 0) return {};
        const Ran ran = run(source, inner(outer(path), path.back().frame, path.back().iteration - 1));
        return ran.kind == Ran::Live ? ran : Ran{};
      }
      default: return run(source, path);
    }
  }

  Ran data_arrival(Output source, const Path& path) {
    Ran ran = arrival(source.node, path);
    const FlowKind kind = flow_kind(graph_.node(source.node));
    if (ran.kind == Ran::Live && kind == FlowKind::Switch && ran.which != source.index) ran.kind = Ran::Dead;
    if (kind == FlowKind::Merge && source.index == 1) ran.value = ran.which;
    return ran;
  }

  Ran run(NodeId id, const Path& path) {
    const auto known = memo_.find({id, path});
    if (known != memo_.end()) return known->second;
    const Ran ran = exists(path) ? compute_run(graph_.node(id), path) : Ran{};
    return memo_[{id, path}] = ran;
  }

  Ran compute_run(const Node& node, const Path& path) {
    const FlowKind kind = flow_kind(node);
    bool dead = false;
    for (const NodeId control : node.control_inputs) {
      const Ran ran = arrival(control, path);
      if (ran.kind == Ran::Never) return {};
      dead |= ran.kind == Ran::Dead;
    }
    std::vector<Ran> inputs;
    for (const Output& input : node.inputs) inputs.push_back(data_arrival(input, path));
    if (kind == FlowKind::Merge) return merge(node, inputs);
    std::vector<int64_t> values;
    for (const Ran& input : inputs) {
      if (input.kind == Ran::Never) return {};
      dead |= input.kind == Ran::Dead;
      values.push_back(input.value);
    }
    if (kind == FlowKind::ControlTrigger) return {Ran::Live, 0, 0};
    if (dead) return {Ran::Dead, 0, 0};
    const uint32_t which = kind == FlowKind::Switch ? static_cast<uint32_t>(values[1] & 1) : 0;
    return {Ran::Live, compute(node, values), which};
  }

  /// F2, F7: returns the live input. The Merge is dead if all inputs are that can arrive in the iteration to which an Enter leads.
  Ran merge(const Node& node, const std::vector<Ran>& inputs) const {
    uint32_t dead = 0, forward = 0;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].kind == Ran::Live) return {Ran::Live, inputs[i].value, i};
      if (flow_kind(graph_.node(node.inputs[i].node)) == FlowKind::NextIteration) continue;
      ++forward;
      dead += inputs[i].kind == Ran::Dead;
    }
    return dead == forward && dead != 0 ? Ran{Ran::Dead, 0, 0} : Ran{};
  }

  const Graph& graph_;
  FrameInfo frames_;
  std::vector<uint64_t> hashes_;
  std::map<std::pair<NodeId, Path>, Ran> memo_;
  Meaning result_;
};

}  // namespace

Meaning meaning_of(const Graph& graph) { return Reference(graph).run_all(); }

}  // namespace troupe::testing

#include "graph/plan/plan.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "graph/plan/fed_value.h"
#include "messages/values/text_hash.h"

namespace troupe {
namespace {

constexpr uint32_t none = UINT32_MAX;
constexpr size_t max_merge_controls = (merge_input - merge_control) / merge_control;
constexpr size_t max_merge_inputs = UINT16_MAX;

uint64_t mix(uint64_t x) {  // the finalizer of SplitMix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

uint64_t hash_of(std::string_view text) { return mix(text_hash(text)); }

bool is_prompt(const Node& node) { return node.op->served_by == ServedBy::Service || is_transfer(*node.op); }

}  // namespace

bool is_transfer(const OpDef& op) {
  const std::string_view name = op.name;
  return name == "_Send" || name == "_HostSend" || name == "_RefSend" || name == "_Recv" ||
         name == "_HostRecv";
}

uint64_t frame_key(uint64_t parent_key, uint64_t parent_iteration, uint64_t name_hash) {
  const uint64_t key = mix(mix(mix(parent_key + 1) ^ parent_iteration) ^ name_hash);
  return key == 0 ? 1 : key;
}

uint64_t iteration_key(uint64_t frame_key, uint64_t iteration) {
  return frame_key == 0 ? 0 : mix(frame_key ^ mix(iteration));
}

class PlanBuilder {
 public:
  PlanBuilder(std::shared_ptr<const Graph> graph, std::span<const Output> feeds,
              std::span<const Output> fetches)
      : graph_(*graph) {
    plan_->graph_ = std::move(graph);
    plan_->feeds_.assign(feeds.begin(), feeds.end());
    plan_->fetches_.assign(fetches.begin(), fetches.end());
  }

  Result<std::shared_ptr<const Plan>> build() && {
    TROUPE_ASSIGN(info_, assign_frames(graph_));
    TROUPE_RETURN_IF_FAILED(check_signature());
    add_nodes();
    add_frames();
    for (PlanId id = 0; id < plan_->nodes_.size(); ++id) TROUPE_RETURN_IF_FAILED(connect(id));
    sort_edges();
    find_roots();
    return std::shared_ptr<const Plan>(std::move(plan_));
  }

 private:
  struct Arrow {
    PlanId source;
    PlanEdge edge;
  };

  std::span<PlanNode> nodes() { return plan_->nodes_; }
  std::span<PlanFrame> frames() { return plan_->frames_; }

  Status check_signature() {
    for (uint32_t i = 0; i < plan_->feeds_.size(); ++i) {
      const Output feed = plan_->feeds_[i];
      TROUPE_RETURN_IF_FAILED(check_outside_loops(feed, "fed"));
      if (!feed_index_.emplace(feed, i).second)
        return invalid_argument(graph_.name_of(feed) + " is fed twice");
    }
    for (const Output fetch : plan_->fetches_) TROUPE_RETURN_IF_FAILED(check_outside_loops(fetch, "fetched"));
    return {};
  }

  Status check_outside_loops(Output output, const char* what) const {
    if (const Status status = graph_.check_tensor({output.node, output.index}); !status.ok())
      return invalid_argument("an output that is " + std::string(what) + " " + status.text());
    const FrameId frame = info_.of_outputs[output.node];
    if (frame == root_frame) return {};
    const Node& node = graph_.node(output.node);
    return invalid_argument("it cannot be " + std::string(what) + ", because it runs in " +
                            describe(info_, frame))
        .at_node(node.type(), node.name);
  }

  /// Returns true if all outputs of the node are fed, so that it need not run.
  bool is_replaced(const Node& node) const {
    if (node.output_types.empty()) return false;
    for (uint32_t i = 0; i < node.output_types.size(); ++i)
      if (!feed_index_.contains({node.id, i})) return false;
    return true;
  }

  void add_nodes() {
    plan_of_.assign(graph_.size(), none);
    for (uint32_t i = 0; i < plan_->feeds_.size(); ++i) add_end(PlanKind::Feed, plan_->feeds_[i], i);
    std::vector<std::vector<NodeId>> by_frame(info_.frames.size());
    for (const Node& node : graph_.nodes()) {
      if (is_replaced(node))
        plan_of_[node.id] = feed_index_.at({node.id, 0});
      else
        by_frame[info_.of_node[node.id]].push_back(node.id);
    }
    for (FrameId frame = 0; frame < by_frame.size(); ++frame) {
      for (const NodeId id : by_frame[frame]) add_node(graph_.node(id));
      if (frame == root_frame)
        for (uint32_t i = 0; i < plan_->fetches_.size(); ++i) add_end(PlanKind::Fetch, plan_->fetches_[i], i);
    }
  }

  void add_end(PlanKind kind, Output output, uint32_t index) {
    PlanNode& end = plan_->nodes_.emplace_back();
    end.node = output.node;
    end.kind = kind;
    end.index = index;
    end.first_slot = slots_;
    end.inputs = kind == PlanKind::Fetch;
    end.outputs = kind == PlanKind::Feed;
    slots_ += end.inputs;
  }

  void add_node(const Node& node) {
    plan_of_[node.id] = static_cast<PlanId>(nodes().size());
    PlanNode& added = plan_->nodes_.emplace_back();
    added.node = node.id;
    added.kind = kind_of(node);
    added.prompt = is_prompt(node);
    added.first_slot = slots_;
    added.inputs = static_cast<uint32_t>(node.inputs.size());
    added.outputs = static_cast<uint32_t>(node.output_types.size());
    added.frame = info_.of_node[node.id];
    if (flow_kind(node) == FlowKind::Enter) added.child = info_.of_outputs[node.id];
    slots_ += added.inputs;
    plan_->max_outputs_ = std::max(plan_->max_outputs_, added.outputs);
  }

  static PlanKind kind_of(const Node& node) {
    switch (flow_kind(node)) {
      case FlowKind::Merge: return PlanKind::Merge;
      case FlowKind::Enter:
        return node.attrs.get<bool>("is_constant") ? PlanKind::ConstantEnter : PlanKind::Enter;
      case FlowKind::Exit: return PlanKind::Exit;
      case FlowKind::NextIteration: return PlanKind::NextIteration;
      case FlowKind::ControlTrigger: return PlanKind::ControlTrigger;
      default: return PlanKind::Plain;
    }
  }

  void add_frames() {
    plan_->frames_.resize(info_.frames.size());
    for (FrameId id = 0; id < frames().size(); ++id) {
      const LoopFrame& frame = info_.frames[id];
      PlanFrame& added = frames()[id];
      added.name = frame.name;
      added.name_hash = hash_of(frame.name);
      added.parent = frame.parent;
      added.parallel_iterations = frame.parallel_iterations;
      added.enters = static_cast<uint32_t>(frame.enters.size());
      if (id != root_frame) added.child_index = frames()[frame.parent].children++;
    }
    for (PlanId id = 0; id < nodes().size(); ++id) {
      PlanNode& node = nodes()[id];
      PlanFrame& frame = frames()[node.frame];
      if (frame.nodes++ == 0) {
        frame.first_node = id;
        frame.first_slot = node.first_slot;
      }
      frame.slots += node.inputs;
      if (node.kind == PlanKind::NextIteration) node.index = frame.held++;
      if (node.kind == PlanKind::ConstantEnter) node.index = frames()[node.child].held++;
    }
  }

  /// Adds the edges into a node, and its initial count.
  Status connect(PlanId id) {
    const PlanNode& target = nodes()[id];
    PendingCount count = 0;
    if (target.kind == PlanKind::Fetch) {
      connect_input(id, 0, plan_->fetches_[target.index]);
      count = 1;
    } else if (target.kind != PlanKind::Feed) {
      const Node& node = graph_.node(target.node);
      for (uint32_t i = 0; i < target.inputs; ++i) connect_input(id, i, node.inputs[i]);
      for (const NodeId source : node.control_inputs)
        arrows_.push_back({plan_of_[source], {id, 0, 0, flags_to(target, PlanEdge::Control)}});
      count = static_cast<PendingCount>(node.inputs.size() + node.control_inputs.size());
      if (target.kind == PlanKind::Merge) {
        TROUPE_RETURN_IF_FAILED(check_merge(node));
        count = 1 + merge_control * static_cast<PendingCount>(node.control_inputs.size()) +
                merge_input * forward_inputs(node);
      }
    }
    plan_->pending_.push_back(count);
    return {};
  }

  void connect_input(PlanId target, uint32_t input, Output source) {
    const auto feed = feed_index_.find(source);
    const bool fed = feed != feed_index_.end();
    const uint32_t slot = nodes()[target].first_slot + input;
    arrows_.push_back({fed ? PlanId{feed->second} : plan_of_[source.node],
                       {target, slot, fed ? 0 : source.index, flags_to(nodes()[target], 0)}});
  }

  static uint16_t flags_to(const PlanNode& target, unsigned flags) {
    if (target.kind == PlanKind::Merge) flags |= PlanEdge::ToMerge;
    if (target.prompt) flags |= PlanEdge::ToPrompt;
    return static_cast<uint16_t>(flags);
  }

  static Status check_merge(const Node& node) {
    if (node.control_inputs.size() <= max_merge_controls && node.inputs.size() <= max_merge_inputs) return {};
    return invalid_argument("a Merge has " + std::to_string(node.inputs.size()) + " inputs and " +
                            std::to_string(node.control_inputs.size()) + " control inputs; at most " +
                            std::to_string(max_merge_inputs) + " and " + std::to_string(max_merge_controls) +
                            " are allowed")
        .at_node(node.type(), node.name);
  }

  PendingCount forward_inputs(const Node& merge) const {
    return static_cast<PendingCount>(std::count_if(
        merge.inputs.begin(), merge.inputs.end(),
        [&](const Output& input) { return flow_kind(graph_.node(input.node)) != FlowKind::NextIteration; }));
  }

  void sort_edges() {
    const auto before = [](const Arrow& a, const Arrow& b) {
      const bool a_control = a.edge.flags & PlanEdge::Control, b_control = b.edge.flags & PlanEdge::Control;
      if (a.source != b.source) return a.source < b.source;
      return a_control != b_control ? b_control : a.edge.output < b.edge.output;
    };
    std::stable_sort(arrows_.begin(), arrows_.end(), before);
    auto& edges = plan_->edges_;
    edges.reserve(arrows_.size());
    for (size_t i = 0; i < arrows_.size(); ++i) {
      const Arrow& arrow = arrows_[i];
      PlanNode& source = nodes()[arrow.source];
      if (i == 0 || arrows_[i - 1].source != arrow.source) source.first_edge = static_cast<uint32_t>(i);
      source.last_edge = static_cast<uint32_t>(i + 1);
      edges.push_back(arrow.edge);
      const bool is_control = arrow.edge.flags & PlanEdge::Control;
      const bool is_last = i + 1 == arrows_.size() || before(arrow, arrows_[i + 1]);
      if (!is_control && is_last) edges.back().flags |= PlanEdge::Last;
    }
  }

  void find_roots() {
    for (PlanId id = 0; id < frames()[root_frame].nodes; ++id)
      if (plan_->pending_[id] == 0) plan_->roots_.push_back(id);
  }

  const Graph& graph_;
  std::shared_ptr<Plan> plan_{new Plan};
  FrameInfo info_;
  std::unordered_map<Output, uint32_t, OutputHash> feed_index_;
  /// For each node of the graph, its node of the plan, or the Feed that replaces it.
  std::vector<PlanId> plan_of_;
  std::vector<Arrow> arrows_;
  uint32_t slots_ = 0;
};

Result<std::shared_ptr<const Plan>> Plan::make(std::shared_ptr<const Graph> graph,
                                               std::span<const Output> feeds,
                                               std::span<const Output> fetches) {
  return PlanBuilder(std::move(graph), feeds, fetches).build();
}

Status Plan::check_feeds(std::span<const Tensor> values) const {
  if (values.size() != feeds_.size())
    return invalid_argument(std::to_string(values.size()) + " tensors are fed, but the step has " +
                            std::to_string(feeds_.size()) + " feeds");
  for (size_t i = 0; i < values.size(); ++i) {
    const Output feed = feeds_[i];
    // The output that an _Arg replaces.
    const AttrValue* original = graph_->node(feed.node).attrs.find("_feed");
    TROUPE_RETURN_IF_FAILED(
        check_fed_value(values[i], graph_->dtype(feed), graph_->shape(feed),
                        original ? std::get<std::string>(*original) : graph_->name_of(feed)));
  }
  return {};
}

}  // namespace troupe

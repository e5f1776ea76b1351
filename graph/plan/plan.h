// Plan: the immutable recipe of a step over one partition: dense nodes, input slots, pending counts, edges,
// frames, last uses. Made once per graph and signature (feeds, fetches), then shared by every step that runs
// it; StepState holds what changes. No threads, no kernels. Sizes are bounded by the graph's; ids are dense,
// 32 bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/build/frames.h"
#include "graph/build/graph.h"

namespace troupe {

/// Index of a node of the plan. The nodes of one frame stand together.
using PlanId = uint32_t;

/// What the step state must know of a node; what running it means is the runner's business.
enum class PlanKind : uint8_t {
  Plain,           ///< dead as soon as one data or control input is (features.md F4)
  Merge,           ///< features.md F2, F3, F7
  Enter,           ///< into iteration 0 of the child frame (F6)
  ConstantEnter,   ///< into every iteration of the child frame (F6)
  Exit,            ///< F9
  NextIteration,   ///< F8
  ControlTrigger,  ///< alive from dead inputs (F4)
  Feed,            ///< stands for a fed output; no inputs
  Fetch,           ///< takes one fetched output; no outputs
};

struct PlanNode {
  NodeId node = 0;  ///< in the graph; of a Feed or Fetch: the node whose output it is
  PlanKind kind = PlanKind::Plain;
  bool prompt = false;      ///< served elsewhere (Recv, variables, queues): started before what computes here
  uint32_t first_edge = 0;  ///< edges [first_edge, last_edge): data edges by output, then control edges
  uint32_t last_edge = 0;
  uint32_t first_slot = 0;  ///< its inputs lie in slots [first_slot, first_slot + inputs)
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  FrameId frame = root_frame;  ///< where it runs
  FrameId child = root_frame;  ///< Enter: the frame it opens
  uint32_t index =
      0;  ///< Feed, Fetch: position in the signature; ConstantEnter, NextIteration: its held value
};

struct PlanEdge {
  enum Flag : uint16_t {
    Control = 1,  ///< carries no value
    Last = 2,     ///< the last edge of its output: the value may be moved
    ToMerge = 4,
    ToPrompt = 8,
  };
  PlanId target = 0;
  uint32_t slot = 0;  ///< of the target's input; data edges only
  uint32_t output = 0;
  uint16_t flags = 0;
};

struct PlanFrame {
  std::string name;
  uint64_t name_hash = 0;
  FrameId parent = root_frame;
  uint32_t child_index = 0;  ///< among the children of its parent
  uint32_t children = 0;
  int64_t parallel_iterations = 1;
  uint32_t enters = 0;
  PlanId first_node = 0;  ///< its nodes are [first_node, first_node + nodes)
  uint32_t nodes = 0;
  uint32_t first_slot = 0;  ///< their input slots are [first_slot, first_slot + slots)
  uint32_t slots = 0;
  uint32_t held =
      0;  ///< values an instance keeps beside its iterations: loop invariants, deferred NextIterations
};

/// The count of unfinished inputs of a node. Its highest bit says that a dead input has arrived.
/// Of a Merge: bit 0: no live input yet; bits 1-15: control inputs to come; bits 16-31: data inputs, not from
/// a NextIteration, that are not known to be dead.
using PendingCount = uint32_t;
inline constexpr PendingCount dead_input = 1u << 31;
inline constexpr PendingCount merge_control = 2;
inline constexpr PendingCount merge_input = 1u << 16;

class Plan {
 public:
  /// A plan of the whole graph. `feeds` are outputs whose value the caller brings: their consumers take it,
  /// and a node whose outputs are all fed does not run. `fetches` are outputs whose value the caller wants;
  /// one may be wanted twice. Both must lie outside any loop. InvalidArgument for what breaks that, for
  /// inputs from different frames, for a Merge with more than 32,767 control or 65,535 data inputs.
  static Result<std::shared_ptr<const Plan>> make(std::shared_ptr<const Graph> graph,
                                                  std::span<const Output> feeds,
                                                  std::span<const Output> fetches);

  const Graph& graph() const { return *graph_; }
  /// The graph's node behind a node of the plan.
  const Node& node(PlanId id) const { return graph_->node(nodes_[id].node); }
  std::span<const PlanNode> nodes() const { return nodes_; }
  std::span<const PlanEdge> edges() const { return edges_; }
  std::span<const PlanEdge> edges(const PlanNode& node) const {
    return {edges_.data() + node.first_edge, node.last_edge - node.first_edge};
  }
  /// frames()[0] is the root; it alone means no loops.
  std::span<const PlanFrame> frames() const { return frames_; }
  bool has_loops() const { return frames_.size() > 1; }
  /// Per node: the count that an iteration begins with.
  std::span<const PendingCount> pending() const { return pending_; }
  /// The nodes without inputs, in order.
  std::span<const PlanId> roots() const { return roots_; }
  std::span<const Output> feeds() const { return feeds_; }
  std::span<const Output> fetches() const { return fetches_; }
  /// The most outputs that a node has.
  uint32_t max_outputs() const { return max_outputs_; }

  /// InvalidArgument when number, dtypes or shapes of these tensors are not those of the feeds; names the
  /// node.
  Status check_feeds(std::span<const Tensor> values) const;

 private:
  friend class PlanBuilder;
  Plan() = default;

  std::shared_ptr<const Graph> graph_;
  std::vector<PlanNode> nodes_;
  std::vector<PlanEdge> edges_;
  std::vector<PlanFrame> frames_;
  std::vector<PendingCount> pending_;
  std::vector<PlanId> roots_;
  std::vector<Output> feeds_, fetches_;
  uint32_t max_outputs_ = 0;
};

/// Send and Recv in all their forms: they run even when dead (features.md F4).
bool is_transfer(const OpDef& op);

/// The key of a frame's instance: equal in every partition that runs part of the loop. The root's is 0.
uint64_t frame_key(uint64_t parent_key, uint64_t parent_iteration, uint64_t name_hash);

/// Tells apart the places where one node runs within a step: 0 outside any loop.
uint64_t iteration_key(uint64_t frame_key, uint64_t iteration);

}  // namespace troupe

// Plan: the immutable description of how a step runs one partition: nodes, input slots, counts of inputs, edges, frames and last
// uses, all by dense 32-bit ids. It is made once per graph and signature (feeds, fetches), and shared by all steps that run it;
// StepState holds what changes. Its size is proportional to that of the graph. It has no kernels. Any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/build/frames.h"
#include "graph/build/graph.h"

namespace troupe {

/// The index of a node of the plan. The nodes of a frame have consecutive indices.
using PlanId = uint32_t;

/// What StepState must know about a node. How the node is computed is known to the step runner only.
enum class PlanKind : uint8_t {
  Plain,           ///< is dead if any data or control input is (features.md F4)
  Merge,           ///< features.md F2, F3, F7
  Enter,           ///< delivers to iteration 0 of the child frame (F6)
  ConstantEnter,   ///< delivers to every iteration of the child frame (F6)
  Exit,            ///< F9
  NextIteration,   ///< F8
  ControlTrigger,  ///< is alive even if its inputs are dead (F4)
  Feed,            ///< delivers the value of a fed output; has no inputs
  Fetch,           ///< receives the value of a fetched output; has no outputs
};

struct PlanNode {
  NodeId node = 0;  ///< the node of the graph; for a Feed or Fetch, the node of its output
  PlanKind kind = PlanKind::Plain;
  /// Carried out elsewhere (Recv, variables, queues), so it starts before nodes with kernels.
  bool prompt = false;
  /// Its edges are [first_edge, last_edge): data edges by output, then control edges.
  uint32_t first_edge = 0;
  uint32_t last_edge = 0;
  uint32_t first_slot = 0;  ///< its inputs are in slots [first_slot, first_slot + inputs)
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  FrameId frame = root_frame;  ///< the frame in which it runs
  FrameId child = root_frame;  ///< for an Enter, the frame that it opens
  /// For a Feed or Fetch, the position in the signature. For a ConstantEnter or NextIteration, the number of its held value.
  uint32_t index = 0;
};

struct PlanEdge {
  enum Flag : uint16_t {
    Control = 1,   ///< carries no value
    Last = 2,      ///< is the last edge of its output, so that the value may be moved
    ToMerge = 4,   ///< the target is a Merge
    ToPrompt = 8,  ///< the target is a prompt node
  };
  PlanId target = 0;
  uint32_t slot = 0;  ///< the slot of the target's input; for data edges only
  uint32_t output = 0;
  uint16_t flags = 0;
};

struct PlanFrame {
  std::string name;
  uint64_t name_hash = 0;
  FrameId parent = root_frame;
  uint32_t child_index = 0;  ///< its position among the children of its parent
  uint32_t children = 0;
  int64_t parallel_iterations = 1;
  uint32_t enters = 0;
  PlanId first_node = 0;  ///< its nodes are [first_node, first_node + nodes)
  uint32_t nodes = 0;
  uint32_t first_slot = 0;  ///< the input slots of its nodes are [first_slot, first_slot + slots)
  uint32_t slots = 0;
  /// How many values an instance keeps beside its iterations: loop invariants and deferred NextIterations.
  uint32_t held = 0;
};

/// The count of a node's inputs that have not arrived. Its highest bit says that a dead input has arrived.
/// The count of a Merge has fields: bit 0 is set until a live input has arrived; bits 1-15 count control
/// inputs to arrive; bits 16-31 count data inputs, not from a NextIteration, that have not arrived dead.
using PendingCount = uint32_t;
inline constexpr PendingCount dead_input = 1u << 31;
inline constexpr PendingCount merge_control = 2;
inline constexpr PendingCount merge_input = 1u << 16;

class Plan {
 public:
  /// Makes a plan of the whole graph. Consumers of an output in `feeds` get the caller's tensor; a node whose outputs
  /// are all fed does not run. The values of the outputs in `fetches`, which may repeat, are returned to the caller.
  /// Fails with InvalidArgument if a feed or fetch is inside a loop or an output is fed twice, if the inputs of a
  /// node come from different frames, and for a Merge with more than 32,767 control inputs or 65,535 data inputs.
  static Result<std::shared_ptr<const Plan>> make(std::shared_ptr<const Graph> graph,
                                                  std::span<const Output> feeds,
                                                  std::span<const Output> fetches);

  const Graph& graph() const { return *graph_; }
  /// Returns the graph's node of a node of the plan.
  const Node& node(PlanId id) const { return graph_->node(nodes_[id].node); }
  std::span<const PlanNode> nodes() const { return nodes_; }
  std::span<const PlanEdge> edges() const { return edges_; }
  std::span<const PlanEdge> edges(const PlanNode& node) const {
    return {edges_.data() + node.first_edge, node.last_edge - node.first_edge};
  }
  /// frames()[0] is the root. A plan without loops has no other frame.
  std::span<const PlanFrame> frames() const { return frames_; }
  bool has_loops() const { return frames_.size() > 1; }
  /// Returns the initial count of each node in an iteration.
  std::span<const PendingCount> pending() const { return pending_; }
  /// Returns the nodes without inputs, in order.
  std::span<const PlanId> roots() const { return roots_; }
  std::span<const Output> feeds() const { return feeds_; }
  std::span<const Output> fetches() const { return fetches_; }
  /// Returns the largest number of outputs of any node.
  uint32_t max_outputs() const { return max_outputs_; }

  /// Fails with InvalidArgument, naming the feed, if the number, dtypes or shapes of these tensors are not those of the feeds.
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

/// Returns true for Send and Recv in all their forms. They run even if they are dead (features.md F4).
bool is_transfer(const OpDef& op);

/// Returns a key of a frame's instance, which is equal in every partition that runs a part of the loop. The key of the root is 0.
uint64_t frame_key(uint64_t parent_key, uint64_t parent_iteration, uint64_t name_hash);

/// Returns a key that distinguishes the runs of one node within a step. Outside all loops it is 0.
uint64_t iteration_key(uint64_t frame_key, uint64_t iteration);

}  // namespace troupe

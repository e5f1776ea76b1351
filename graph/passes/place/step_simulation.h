// StepModel: simulates a step to place its nodes (features.md H9; white paper, section 3.2.1). Nodes are taken in the order in
// which their inputs are ready, and each goes to the candidate where it would end first, the transfers of its inputs included,
// unless it has a device already. Immutable; any thread.
#pragma once

#include <span>
#include <vector>

#include "graph/build/frames.h"
#include "graph/passes/place/node_costs.h"
#include "graph/passes/place/placer.h"

namespace troupe {

/// The step that a simulation yields.
struct SimulatedStep {
  std::vector<DeviceId> devices;  ///< by group
  /// The bytes of variables for which their devices have no memory.
  double excess_bytes = 0;
  /// When the last node ends, apart from those that only give variables their first values.
  double seconds = 0;
};

class StepModel {
 public:
  /// All must outlive this object. The graph must have no cycle, apart from those of loops.
  StepModel(const Graph& graph, std::span<const DeviceInfo> devices, const PlacementGroups& groups,
            const NodeCosts& costs);

  /// Simulates the step. `fixed` has for each group its device, which is a candidate, or no_device; if it is empty, no group has
  /// one.
  /// - A node that computes nothing (NodeCosts::is_free) goes to its first input, or else, as a variable or constant does, to its
  ///   first consumer. The members of a group go where the first of them that computes goes.
  /// - What only gives variables their first values is placed last, so that variables lie where steps need them.
  /// - The nodes of a loop share a device if they may, because an iteration on several devices sends its condition to each of them.
  /// - A device whose memory the variables placed there would exceed comes last.
  SimulatedStep simulate(std::span<const DeviceId> fixed = {}) const;

  const Graph& graph() const { return graph_; }
  const PlacementGroups& groups() const { return groups_; }
  size_t device_count() const { return devices_.size(); }
  /// Returns whether the node computes something that steps need.
  bool computes(NodeId node) const { return !is_free_[node] && !initializes_[node]; }
  double seconds(NodeId node, DeviceId device) const { return seconds_[node * types_ + type_of_[device]]; }
  double bytes(Output output) const { return bytes_[index_of(output)]; }
  /// Returns the outermost loop that contains the node; root_frame outside of loops.
  FrameId loop_of(NodeId node) const { return loops_[node]; }

 private:
  class Run;

  size_t index_of(Output output) const { return first_output_[output.node] + output.index; }
  double transfer_seconds(double bytes, DeviceId from, DeviceId to) const {
    const size_t connection = from * devices_.size() + to;
    return latency_[connection] + bytes * seconds_per_byte_[connection];
  }
  void find_loops();
  void count_inputs();
  void measure_nodes(const NodeCosts& costs);
  void measure_connections(const NodeCosts& costs);

  const Graph& graph_;
  const std::span<const DeviceInfo> devices_;
  const PlacementGroups& groups_;
  std::vector<bool> initializes_, is_free_;  ///< by node, as are the next four
  std::vector<FrameId> loops_;
  std::vector<uint32_t> pending_;  ///< the number of inputs
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<double> state_bytes_;                 ///< of the variables that a node declares
  std::vector<size_t> first_output_;                ///< by node: the index of its first output
  std::vector<double> bytes_;                       ///< by output
  size_t types_ = 0;                                ///< how many types of devices there are
  std::vector<size_t> type_of_;                     ///< by device
  std::vector<double> seconds_;                     ///< by node and type of device
  std::vector<double> latency_, seconds_per_byte_;  ///< by two devices
};

/// A PlacementPolicy for estimated or measured costs: that of StepModel::simulate().
std::vector<DeviceId> earliest_finish(const Graph& graph, std::span<const DeviceInfo> devices,
                                      const PlacementGroups& groups, const NodeCosts& costs);

}  // namespace troupe

#include "graph/passes/partition/late_receives.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/passes/liveness.h"
#include "graph/passes/place/node_costs.h"

namespace troupe {
namespace {

constexpr double least_bytes = 1 << 20;
/// By so many times its duration a transfer begins before its tensor is needed.
constexpr double transfers_ahead = 3;
constexpr size_t most_tries = 64;

/// When nodes run. Each device runs one node at a time, and each pair of devices moves one tensor at a time.
class Timetable {
 public:
  Timetable(const Graph& graph, std::span<const NodeId> order, std::span<const DeviceId> device,
            const NodeCosts& costs)
      : graph_(graph), device_(device), costs_(costs), begin(graph.size(), 0), end(graph.size(), 0) {
    std::vector<double> free_at;
    for (const NodeId id : order) {
      const DeviceId mine = device[id];
      if (mine >= free_at.size()) free_at.resize(mine + 1, 0);
      double start = 0;
      for (const Output& input : graph.node(id).inputs)
        if (!is_back_edge(graph.node(input.node), graph.node(id)))
          start = std::max(start, arrival(input, mine));
      for (const NodeId control : graph.node(id).control_inputs) start = std::max(start, end[control]);
      const double seconds = costs.seconds(id, mine);
      if (seconds > 0) start = std::max(start, free_at[mine]);
      begin[id] = start;
      end[id] = start + seconds;
      if (seconds > 0) free_at[mine] = end[id];
    }
  }

 private:
  double arrival(Output input, DeviceId to) {
    const DeviceId from = device_[input.node];
    if (from == to) return end[input.node];
    const auto [known, is_new] = arrivals_.try_emplace({input, to}, 0);
    if (is_new) {
      double& free_at = links_[{from, to}];
      const double seconds = costs_.transfer_seconds(costs_.bytes(input), from, to);
      known->second = free_at = std::max(free_at, end[input.node]) + seconds;
    }
    return known->second;
  }

  const Graph& graph_;
  std::span<const DeviceId> device_;
  const NodeCosts& costs_;
  std::map<std::pair<Output, DeviceId>, double> arrivals_;
  std::map<std::pair<DeviceId, DeviceId>, double> links_;

 public:
  std::vector<double> begin, end;  ///< by node, in seconds
};

class LateReceives {
 public:
  LateReceives(const Graph& graph, std::span<const NodeId> order, const FrameInfo& frames,
               std::span<const DeviceId> device, std::span<const DeviceInfo> devices)
      : graph_(graph), frames_(frames), device_(device), devices_(devices), costs_(graph, devices, nullptr),
        times_(graph, order, device, costs_), liveness_(graph.nodes(), order), place_(graph.size(), 0) {
    std::vector<NodeId> sorted(order.begin(), order.end());
    std::ranges::stable_sort(sorted, {}, [&](NodeId id) { return times_.begin[id]; });
    for (const NodeId id : sorted) {
      auto& there = on_device_[device[id]];
      place_[id] = there.size();
      there.push_back(id);
    }
    for (const Node& node : graph.nodes())
      for (const Output& input : node.inputs)
        if (device[input.node] != device[node.id]) note_consumer(input, node.id);
  }

  NodeId node_before(const Transfer& transfer) const {
    if (transfer.source.is_control() || transfer.late_reader != Transfer::no_reader ||
        transfer.frame != root_frame ||
        devices_[transfer.from].name.task_name() == devices_[transfer.to].name.task_name())
      return Output::no_node;
    const double bytes = costs_.bytes(transfer.source);
    const auto consumer = first_consumers_.find({transfer.source, transfer.to});
    if (bytes < least_bytes || consumer == first_consumers_.end()) return Output::no_node;
    const double latest = times_.begin[consumer->second] -
                          transfers_ahead * costs_.transfer_seconds(bytes, transfer.from, transfer.to);
    return last_ended(transfer, consumer->second, latest);
  }

 private:
  void note_consumer(Output source, NodeId consumer) {
    const auto [known, is_new] = first_consumers_.try_emplace({source, device_[consumer]}, consumer);
    if (!is_new && place_[consumer] < place_[known->second]) known->second = consumer;
  }

  /// Returns the last node before the consumer that has ended by then.
  NodeId last_ended(const Transfer& transfer, NodeId consumer, double latest) const {
    const auto& there = on_device_.at(transfer.to);
    size_t tries = 0;
    for (size_t at = place_[consumer]; at-- > 0;) {
      const NodeId id = there[at];
      if (times_.end[id] > latest || costs_.is_free(id)) continue;
      if (++tries > most_tries) break;
      if (frames_.of_node[id] == root_frame && !graph_.node(id).output_types.empty() &&
          liveness_.implies(transfer.source, {id, 0}))
        return id;
    }
    return Output::no_node;
  }

  const Graph& graph_;
  const FrameInfo& frames_;
  std::span<const DeviceId> device_;
  std::span<const DeviceInfo> devices_;
  const NodeCosts costs_;
  const Timetable times_;
  const Liveness liveness_;
  std::map<DeviceId, std::vector<NodeId>> on_device_;  ///< in the order in which they begin
  std::vector<size_t> place_;                          ///< of each node, in that order
  std::map<std::pair<Output, DeviceId>, NodeId> first_consumers_;
};

}  // namespace

std::vector<NodeId> late_receives(const Graph& graph, std::span<const NodeId> order, const FrameInfo& frames,
                                  std::span<const DeviceId> device, std::span<const DeviceInfo> devices,
                                  std::span<const Transfer> transfers) {
  std::vector<NodeId> before(transfers.size(), Output::no_node);
  if (transfers.empty()) return before;
  const LateReceives receives(graph, order, frames, device, devices);
  for (size_t i = 0; i < transfers.size(); ++i) before[i] = receives.node_before(transfers[i]);
  return before;
}

}  // namespace troupe

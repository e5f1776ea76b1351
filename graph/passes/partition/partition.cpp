#include "graph/passes/partition/partition.h"

#include <algorithm>

#include "graph/passes/partition/crossings.h"
#include "graph/passes/partition/late_receives.h"
#include "graph/passes/subgraph.h"

namespace troupe {
namespace {

/// Moves control-flow ops to the devices of the nodes they steer (I6). Ops with references stay with their variable.
void move_control_flow(const Graph& graph, std::span<const NodeId> order, std::vector<DeviceId>& device) {
  std::vector<DeviceId> consumers(graph.size(), no_device);
  std::vector<bool> disagree(graph.size(), false);
  for (const Node& node : graph.nodes())
    for (const Output& input : node.inputs) {
      DeviceId& known = consumers[input.node];
      disagree[input.node] = disagree[input.node] || (known != no_device && known != device[node.id]);
      known = device[node.id];
    }
  for (const Node& node : graph.nodes()) {
    const FlowKind kind = flow_kind(node);
    if (kind != FlowKind::Enter && kind != FlowKind::NextIteration) continue;
    if (!node.expects_ref[0] && !disagree[node.id] && consumers[node.id] != no_device)
      device[node.id] = consumers[node.id];
  }
  for (const NodeId id : order) {
    const FlowKind kind = flow_kind(graph.node(id));
    if (kind == FlowKind::Switch || kind == FlowKind::Exit)
      device[id] = device[graph.node(id).inputs[0].node];
  }
}

/// Builds the graph of one device: Recv nodes, then the device's own nodes, copies and control loops, then Send nodes.
class Assembly {
 public:
  Assembly(const Graph& whole, std::span<const DeviceId> device, std::span<const DeviceInfo> devices,
           const Crossings& crossings, const MemoryKinds& memory, std::span<const NodeId> local,
           std::span<const NodeId> receive_after, DeviceId mine, bool lossy)
      : whole_(whole), device_(device), devices_(devices), crossings_(crossings), memory_(memory),
        local_(local), receive_after_(receive_after), mine_(mine),
        lossy_(lossy), result_{mine, whole.empty(), {}, {}, {}} {}

  Result<Partition> run() && {
    const auto ends = [&](const Transfer& transfer) {
      return transfer.from == mine_ || transfer.to == mine_;
    };
    const auto& transfers = crossings_.transfers();
    graph().reserve(local_.size() +
                    static_cast<size_t>(std::count_if(transfers.begin(), transfers.end(), ends)));
    TROUPE_RETURN_IF_FAILED(add_receivers());
    add_nodes();
    TROUPE_RETURN_IF_FAILED(add_loops());
    TROUPE_RETURN_IF_FAILED(add_senders());
    TROUPE_RETURN_IF_FAILED(order_receivers());
    result_.origin.resize(result_.graph.size(), no_node);
    TROUPE_RETURN_IF_FAILED(sort_nodes());
    sort_ends(result_.feeds);
    sort_ends(result_.fetches);
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.graph; }
  const std::string& source_name(const Transfer& transfer) const {
    return whole_.node(transfer.source.node).name;
  }

  Result<NodeId> add(std::string op, const std::string& name, std::vector<Output> inputs, Attributes attrs,
                     std::vector<NodeId> control = {}) {
    NodeSpec spec;
    spec.op = std::move(op);
    spec.name = whole_.unique_name(name);
    spec.inputs = std::move(inputs);
    spec.attrs = std::move(attrs);
    spec.control_inputs = std::move(control);
    return graph().add(std::move(spec));
  }

  /// Returns whether the tensor travels as bfloat16.
  bool is_shortened(const Transfer& transfer) const {
    return lossy_ && !transfer.source.is_control() && whole_.dtype(transfer.source) == DType::Float &&
           !transfer.host && transfer.late_reader == Transfer::no_reader &&
           !memory_.output_on_host(transfer.source) &&
           devices_[transfer.from].name.task_name() != devices_[transfer.to].name.task_name();
  }
  Result<Output> add_cast(const std::string& name, Output from, DType to) {
    Attributes attrs{{"SrcT", graph().dtype(from)}, {"DstT", to}, {"Truncate", true}};
    TROUPE_ASSIGN(const NodeId cast, add("Cast", name, {from}, std::move(attrs)));
    return Output{cast, 0};
  }

  Attributes end_attributes(const Transfer& transfer, uint32_t number, std::string_view type_attr) const {
    const DType dtype = transfer.source.is_control() ? DType::Float
                        : is_shortened(transfer)     ? DType::BFloat16
                                                     : whole_.dtype(transfer.source);
    return {{std::string(type_attr), dtype},
            {"tensor_name", "edge_" + std::to_string(number) + '_' + source_name(transfer)},
            {"send_device", devices_[transfer.from].name.text()},
            {"send_device_incarnation", static_cast<int64_t>(devices_[transfer.from].incarnation)},
            {"recv_device", devices_[transfer.to].name.text()}};
  }

  Status add_receivers() {
    const auto& transfers = crossings_.transfers();
    receiver_.assign(transfers.size(), no_node);
    received_.assign(transfers.size(), {});
    for (uint32_t i = 0; i < transfers.size(); ++i) {
      const Transfer& transfer = transfers[i];
      if (transfer.to != mine_) continue;
      TROUPE_ASSIGN(receiver_[i], add(transfer.host ? "_HostRecv" : "_Recv",
                                      source_name(transfer) + "/_recv_" + std::to_string(i), {},
                                      end_attributes(transfer, i, "tensor_type")));
      received_[i] = {receiver_[i], 0};
      if (transfer.source.is_control()) {
        TROUPE_ASSIGN(
            received_[i].node,
            add("Identity", source_name(transfer) + "/_signalled_" + std::to_string(i), {received_[i]}, {}));
        continue;
      }
      TROUPE_RETURN_IF_FAILED(graph().refine_shape(received_[i], whole_.shape(transfer.source)));
      if (is_shortened(transfer)) {
        TROUPE_ASSIGN(received_[i], add_cast(source_name(transfer) + "/_widened_" + std::to_string(i),
                                             received_[i], DType::Float));
      }
    }
    return {};
  }

  void add_nodes() {
    result_.origin.assign(graph().size(), no_node);
    auto next = static_cast<NodeId>(graph().size());
    local_id_.assign(whole_.size(), no_node);
    for (const NodeId id : local_) {
      if (whole_.node(id).type() != "_Retval") local_id_[id] = next++;
    }
    for (const Copy& copy : crossings_.copies()) copy_id_.push_back(copy.device == mine_ ? next++ : no_node);
    for (const NodeId id : local_) add_node(whole_.node(id));
    for (const Copy& copy : crossings_.copies())
      if (copy.device == mine_) add_node(whole_.node(copy.node));
  }

  void add_node(Node node) {
    std::vector<Output> inputs = node.inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      inputs[i] = local_output(crossings_.source_of_input(node, i, mine_), inputs[i]);
    const auto position = [&] { return static_cast<uint32_t>(node.attrs.get<int64_t>("index")); };
    if (node.type() == "_Retval") {
      result_.fetches.push_back({position(), inputs[0]});
      return;
    }
    node.inputs = std::move(inputs);
    for (NodeId& control : node.control_inputs)
      control = local_output(crossings_.source_of_control(control, mine_), {control, Output::control}).node;
    std::sort(node.control_inputs.begin(), node.control_inputs.end());
    if (node.type() == "_Arg")
      result_.feeds.push_back({position(), {static_cast<NodeId>(graph().size()), 0}});
    result_.origin.push_back(node.id);
    graph().append(std::move(node));
  }

  /// Returns the output of this partition that stands for `source`.
  Output local_output(EdgeSource edge, Output source) const {
    if (edge.kind == EdgeSource::Kind::Transfer) return received_[edge.index];
    return {edge.kind == EdgeSource::Kind::Copy ? copy_id_[edge.index] : local_id_[source.node],
            source.index};
  }

  /// Adds Enter -> Merge -> Switch(predicate) -> NextIteration -> Merge on a dummy value. An
  /// outermost loop starts from a constant, an inner one from the Merge of the loop around it.
  Status add_loops() {
    // Outer loops come before inner ones.
    for (auto loop = crossings_.loops().rbegin(); loop != crossings_.loops().rend(); ++loop) {
      if (loop->device != mine_) continue;
      const std::string name = whole_.node(loop->predicate.node).name;
      const LoopFrame& frame = crossings_.frames().frames[loop->frame];
      TROUPE_ASSIGN(const Output start, loop_start(name, frame));
      TROUPE_ASSIGN(const NodeId enter,
                    add("Enter", name + "/_enter", {start},
                        {{"frame_name", frame.name}, {"parallel_iterations", frame.parallel_iterations}}));
      TROUPE_ASSIGN(const NodeId merge, add("Merge", name + "/_merge", {{enter, 0}, {enter, 0}}, {}));
      const Output predicate = local_output(crossings_.source_of_predicate(*loop), loop->predicate);
      TROUPE_ASSIGN(const NodeId steer, add("Switch", name + "/_switch", {{merge, 0}, predicate}, {}));
      TROUPE_ASSIGN(const NodeId next, add("NextIteration", name + "/_next", {{steer, 1}}, {}));
      TROUPE_RETURN_IF_FAILED(graph().replace_input(merge, 1, {next, 0}));
      loop_merge_[loop->frame] = merge;
    }
    return {};
  }
  Result<Output> loop_start(const std::string& name, const LoopFrame& frame) {
    if (frame.parent != root_frame) return Output{loop_merge_.at(frame.parent), 0};
    TROUPE_ASSIGN(const NodeId start, add("Const", name + "/_start", {},
                                          {{"dtype", i32}, {"value", Tensor::scalar<int32_t>(0)}}));
    return Output{start, 0};
  }

  Status add_senders() {
    const auto& transfers = crossings_.transfers();
    for (uint32_t i = 0; i < transfers.size(); ++i) {
      const Transfer& transfer = transfers[i];
      if (transfer.from != mine_) continue;
      Output tensor = {local_id_[transfer.source.node], transfer.source.index};
      std::string op = "_Send";
      if (transfer.source.is_control()) {
        const Tensor empty = Tensor::vector<float>({});
        TROUPE_ASSIGN(const NodeId signal,
                      add("Const", source_name(transfer) + "/_signal_" + std::to_string(i), {},
                          {{"dtype", f32}, {"value", empty}}, {tensor.node}));
        tensor = {signal, 0};
      } else if (transfer.late_reader != Transfer::no_reader) {
        op = "_RefSend";
      } else if (memory_.output_on_host(transfer.source)) {
        op = "_HostSend";
      } else if (is_shortened(transfer)) {
        TROUPE_ASSIGN(tensor, add_cast(source_name(transfer) + "/_shortened_" + std::to_string(i), tensor,
                                       DType::BFloat16));
      }
      Attributes attrs = end_attributes(transfer, i, "T");
      if (op == "_Send" && transfer.host) attrs.set("recv_on_host", true);
      TROUPE_ASSIGN(const NodeId sender, add(op, source_name(transfer) + "/_send_" + std::to_string(i),
                                             {tensor}, std::move(attrs)));
      if (transfer.to == mine_) TROUPE_RETURN_IF_FAILED(graph().add_control_input(receiver_[i], sender));
    }
    return {};
  }

  /// Inside a loop a Recv starts once per iteration; one between two memories of this device starts after its Send. A late read
  /// waits for the other inputs of its reader (I5), a late receive for a node before its consumers (I8).
  Status order_receivers() {
    const auto& transfers = crossings_.transfers();
    for (uint32_t i = 0; i < transfers.size(); ++i) {
      const Transfer& transfer = transfers[i];
      if (transfer.to != mine_) continue;
      if (transfer.frame != root_frame && transfer.from != mine_)
        TROUPE_RETURN_IF_FAILED(graph().add_control_input(receiver_[i], loop_merge_.at(transfer.frame)));
      if (receive_after_[i] != no_node)
        TROUPE_RETURN_IF_FAILED(graph().add_control_input(receiver_[i], local_id_[receive_after_[i]]));
      if (transfer.late_reader != Transfer::no_reader)
        TROUPE_RETURN_IF_FAILED(wait_for_others(i, whole_.node(transfer.late_reader)));
    }
    return {};
  }
  Status wait_for_others(uint32_t transfer, const Node& reader) {
    if (flow_kind(reader) == FlowKind::Merge) return {};  // a Merge does not wait for its other inputs
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      if (whole_.type(reader.inputs[i]).is_ref) continue;
      const Output other = local_output(crossings_.source_of_input(reader, i, mine_), reader.inputs[i]);
      TROUPE_RETURN_IF_FAILED(graph().add_control_input(receiver_[transfer], other.node));
    }
    for (const NodeId control : reader.control_inputs) {
      const Output other =
          local_output(crossings_.source_of_control(control, mine_), {control, Output::control});
      TROUPE_RETURN_IF_FAILED(graph().add_control_input(receiver_[transfer], other.node));
    }
    return {};
  }

  /// Returns true if all edges except back edges lead from earlier to later nodes.
  bool is_sorted() {
    const auto nodes = graph().nodes();
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
      const bool is_merge = flow_kind(node) == FlowKind::Merge;
      return (node.control_inputs.empty() || node.control_inputs.back() < node.id) &&
             std::all_of(node.inputs.begin(), node.inputs.end(), [&](Output input) {
               return input.node < node.id ||
                      (is_merge && flow_kind(graph().node(input.node)) == FlowKind::NextIteration);
             });
    });
  }

  /// Sorts the nodes topologically. Nodes that were added late, such as
  /// the loops that Recv nodes wait for, may stand behind their consumers.
  Status sort_nodes() {
    if (is_sorted()) return {};
    TROUPE_ASSIGN(const auto order, topological_order(graph()));
    std::vector<NodeId> new_id(order.size()), origin;
    for (NodeId to = 0; to < order.size(); ++to) {
      new_id[order[to]] = to;
      origin.push_back(result_.origin[order[to]]);
    }
    std::vector<Node> nodes = std::move(result_.graph).release();
    result_.graph = whole_.empty();
    for (const NodeId from : order) {
      Node& node = nodes[from];
      for (Output& input : node.inputs) input.node = new_id[input.node];
      for (NodeId& control : node.control_inputs) control = new_id[control];
      std::sort(node.control_inputs.begin(), node.control_inputs.end());
      graph().append(std::move(node));
    }
    for (auto* ends : {&result_.feeds, &result_.fetches})
      for (PartitionEnd& end : *ends) end.output.node = new_id[end.output.node];
    result_.origin = std::move(origin);
    return {};
  }

  static void sort_ends(std::vector<PartitionEnd>& ends) {
    std::sort(ends.begin(), ends.end(),
              [](const PartitionEnd& a, const PartitionEnd& b) { return a.position < b.position; });
  }

  const Graph& whole_;
  std::span<const DeviceId> device_;
  std::span<const DeviceInfo> devices_;
  const Crossings& crossings_;
  const MemoryKinds& memory_;
  std::span<const NodeId> local_;
  std::span<const NodeId> receive_after_;  ///< for each transfer (late_receives)
  DeviceId mine_;
  bool lossy_;
  Partition result_;
  std::vector<NodeId> local_id_;  ///< for each node of the whole graph
  std::vector<NodeId> copy_id_;   ///< for each copy
  std::vector<NodeId> receiver_;  ///< for each transfer
  std::vector<Output> received_;  ///< for each transfer, the output that its consumers read
  std::map<FrameId, NodeId> loop_merge_;
};

}  // namespace

Result<std::vector<Partition>> partition(const Graph& graph, std::vector<DeviceId> device,
                                         std::span<const DeviceInfo> devices, bool lossy) {
  assert(device.size() == graph.size());
  TROUPE_ASSIGN(const auto order, topological_order(graph));
  move_control_flow(graph, order, device);
  TROUPE_ASSIGN(const FrameInfo frames, assign_frames(graph));
  const MemoryKinds memory(graph, device, devices);
  Crossings crossings(graph, frames, device, memory);
  TROUPE_RETURN_IF_FAILED(crossings.find());
  std::map<DeviceId, std::vector<NodeId>> local;
  for (NodeId id = 0; id < graph.size(); ++id) local[device[id]].push_back(id);
  for (const ControlLoop& loop : crossings.loops()) local[loop.device];
  const auto receive_after = late_receives(graph, order, frames, device, devices, crossings.transfers());
  std::vector<Partition> partitions;
  for (const auto& [mine, nodes] : local) {
    TROUPE_ASSIGN(
        Partition part,
        Assembly(graph, device, devices, crossings, memory, nodes, receive_after, mine, lossy).run());
    partitions.push_back(std::move(part));
  }
  return partitions;
}

std::map<DeviceName, std::vector<size_t>> group_by_task(std::span<const Partition> partitions,
                                                        std::span<const DeviceInfo> devices) {
  std::map<DeviceName, std::vector<size_t>> groups;
  for (size_t i = 0; i < partitions.size(); ++i)
    groups[devices[partitions[i].device].name.task_name()].push_back(i);
  return groups;
}

}  // namespace troupe

#include "graph/passes/partition/crossings.h"

#include "graph/passes/partition/after_writes.h"

namespace troupe {

Crossings::Crossings(const Graph& graph, const FrameInfo& frames, std::span<const DeviceId> device,
                     const MemoryKinds& memory)
    : graph_(graph), frames_(frames), device_(device), memory_(memory), runs_on_(frames.frames.size()),
      receives_on_(frames.frames.size()), iterates_on_(frames.frames.size()),
      loop_cond_(frames.frames.size(), static_cast<NodeId>(graph.size())) {
  for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;)
    if (flow_kind(graph.node(id)) == FlowKind::LoopCond) loop_cond_[frames.of_node[id]] = id;
}

Status Crossings::find() {
  TROUPE_RETURN_IF_FAILED(find_writes());
  for (const Node& node : graph_.nodes()) TROUPE_RETURN_IF_FAILED(find_inputs(node, device_[node.id]));
  for (size_t i = 0; i < copies_.size();
       ++i)  // copies_ grows meanwhile, because the input of a copy may be a copy
    TROUPE_RETURN_IF_FAILED(find_inputs(graph_.node(copies_[i].node), copies_[i].device));
  return add_loops();
}

/// Marks the nodes that a write of some variable precedes. Does nothing if no reference crosses devices.
Status Crossings::find_writes() {
  bool crosses = false;
  for (const Node& node : graph_.nodes())
    for (const Output& input : node.inputs)
      crosses = crosses || (graph_.type(input).is_ref && device_[input.node] != device_[node.id]);
  if (!crosses) return {};
  TROUPE_ASSIGN(after_write_, after_writes(graph_));
  return {};
}

Status Crossings::find_inputs(const Node& node, DeviceId to) {
  note_run(node, to);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (source_of_input(node, i, to).kind == EdgeSource::Kind::Local) continue;
    const Key key = key_of_input(node, i, to);
    const bool is_handle = node.expects_ref[i] || is_local(graph_.dtype(key.source));
    if (is_handle)
      return invalid_argument("input " + std::to_string(i) + " is a reference or handle from " +
                              graph_.node(key.source.node).name +
                              " on another device; only values can be sent")
          .at_node(node.type(), node.name);
    add_transfer(key);
  }
  for (const NodeId control : node.control_inputs)
    add_transfer({{control, Output::control}, to, false, Transfer::no_reader});
  return {};
}

void Crossings::note_run(const Node& node, DeviceId device) {
  const FrameId frame = frames_.of_node[node.id];
  if (frame == root_frame) return;
  runs_on_[frame].insert(device);
  if (flow_kind(node) != FlowKind::Merge) return;
  for (const Output& input : node.inputs)
    if (flow_kind(graph_.node(input.node)) == FlowKind::NextIteration) iterates_on_[frame].insert(device);
}

void Crossings::add_transfer(const Key& key) {
  if (device_[key.source.node] != key.to && can_be_copied(key.source.node))
    return add_copy(key.source.node, key.to);
  if (source_of(key).kind == EdgeSource::Kind::Local) return;
  const auto [at, is_new] = transfer_index_.try_emplace(key, static_cast<uint32_t>(transfers_.size()));
  if (!is_new) return;
  const FrameId frame = frames_.of_outputs[key.source.node];
  transfers_.push_back({key.source, device_[key.source.node], key.to, key.host, frame, key.late_reader});
  if (frame == root_frame || device_[key.source.node] == key.to) return;
  receives_on_[frame].insert(key.to);
  // A RefEnter, which runs outside the frame, may be all that is there.
  runs_on_[frame].insert(device_[key.source.node]);
}

void Crossings::add_copy(NodeId node, DeviceId device) {
  if (copy_index_.try_emplace({node, device}, static_cast<uint32_t>(copies_.size())).second)
    copies_.push_back({node, device});
}

/// A frame on several devices must have a loop on each of them that iterates as often as the
/// predicate is true. What a device receives inside the frame must be received once per iteration.
Status Crossings::add_loops() {
  // Inner frames come before outer ones.
  for (FrameId frame = static_cast<FrameId>(frames_.frames.size()); frame-- > 1;) {
    if (runs_on_[frame].size() < 2) continue;
    for (const DeviceId device : runs_on_[frame])
      if (receives_on_[frame].contains(device) || !iterates_on_[frame].contains(device))
        TROUPE_RETURN_IF_FAILED(add_loop(frame, device));
  }
  return {};
}

Status Crossings::add_loop(FrameId frame, DeviceId device) {
  if (loop_cond_[frame] == graph_.size()) {
    const Node& enter = graph_.node(frames_.frames[frame].enters[0]);
    return invalid_argument("frame '" + frames_.frames[frame].name +
                            "' runs on several devices but has no LoopCond")
        .at_node(enter.type(), enter.name);
  }
  loops_.push_back({frame, device, {loop_cond_[frame], 0}});
  add_transfer(predicate_key(loops_.back()));
  const FrameId parent = frames_.frames[frame].parent;
  if (parent != root_frame) {  // the loop of the parent frame starts this loop
    runs_on_[parent].insert(device);
    iterates_on_[parent].erase(device);
  }
  return {};
}

Crossings::Key Crossings::predicate_key(const ControlLoop& loop) const {
  return {loop.predicate, loop.device, memory_.has_own_memory(loop.device), Transfer::no_reader};
}

Crossings::Key Crossings::key_of_input(const Node& reader, size_t index, DeviceId to) const {
  const Output source = reader.inputs[index];
  const bool late = graph_.type(source).is_ref && device_[source.node] != to && !after_write_.empty() &&
                    after_write_[reader.id];
  return {source, to, memory_.input_on_host(reader.id, index, to), late ? reader.id : Transfer::no_reader};
}

bool Crossings::can_be_copied(NodeId node) const {
  const FlowKind kind = flow_kind(graph_.node(node));
  return (kind == FlowKind::Enter || kind == FlowKind::NextIteration) && !graph_.node(node).expects_ref[0];
}

EdgeSource Crossings::source_of(const Key& key) const {
  if (device_[key.source.node] == key.to) {
    if (key.source.is_control() || memory_.output_on_host(key.source) == key.host) return {};
  } else if (const auto copy = copy_index_.find({key.source.node, key.to}); copy != copy_index_.end()) {
    return {EdgeSource::Kind::Copy, copy->second};
  }
  const auto transfer = transfer_index_.find(key);
  return {EdgeSource::Kind::Transfer, transfer == transfer_index_.end() ? UINT32_MAX : transfer->second};
}

EdgeSource Crossings::source_of_input(const Node& reader, size_t index, DeviceId to) const {
  const Output source = reader.inputs[index];
  const bool is_handle = reader.expects_ref[index] || is_local(graph_.dtype(source));
  if (is_handle && device_[source.node] == to) return {};
  return source_of(key_of_input(reader, index, to));
}

EdgeSource Crossings::source_of_control(NodeId source, DeviceId to) const {
  return source_of({{source, Output::control}, to, false, Transfer::no_reader});
}

EdgeSource Crossings::source_of_predicate(const ControlLoop& loop) const {
  return source_of(predicate_key(loop));
}

}  // namespace troupe

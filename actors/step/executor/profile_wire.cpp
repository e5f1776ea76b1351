#include "actors/step/executor/profile_wire.h"

#include <algorithm>

#include "messages/wire/wire.h"

namespace troupe {
namespace {

std::string text_attribute(const Node& node, std::string_view name) {
  const AttrValue* const value = node.attrs.find(name);
  const auto* const text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? *text : std::string();
}

/// Writes what names the edge of a Send or Recv.
void write_edge(const Node& node, wire::NodeProfile::Builder to) {
  const std::string name = text_attribute(node, "tensor_name"),
                    receiver = text_attribute(node, "recv_device");
  if (name.empty()) return;
  to.setEdge(as_text(name + ' ' + receiver));
  to.setPeer(as_text(node.output_types.empty() ? receiver : text_attribute(node, "send_device")));
}

void write(const StepProfile::NodeWork& work, const PreparedPlan& plan, const PlanNode& node,
           wire::NodeProfile::Builder to) {
  const Graph& graph = plan.plan().graph();
  const bool is_feed = node.kind == PlanKind::Feed, is_fetch = node.kind == PlanKind::Fetch;
  const std::string& op = graph.node(node.node).type();
  to.setName(as_text(graph.node(node.node).name));
  to.setOp(as_text(is_feed ? "feed" : is_fetch ? "fetch" : op));
  to.setRuns(work.runs);
  to.setTime(static_cast<uint64_t>(work.nanoseconds));
  if (!is_feed && !is_fetch) write_edge(graph.node(node.node), to);
}

void write(const StepProfile::Span& span, wire::NodeSpan::Builder to) {
  to.setBegin(static_cast<uint64_t>(span.begin));
  to.setEnd(static_cast<uint64_t>(span.end));
  to.setBytes(span.bytes);
  to.setWaited(span.waited);
}

/// Returns the spans of each node, by its number in the plan.
std::vector<std::vector<const StepProfile::Span*>> spans_by_node(const StepProfile& profile) {
  std::vector<std::vector<const StepProfile::Span*>> spans(profile.nodes.size());
  for (const StepProfile::Span& span : profile.spans) spans[span.node].push_back(&span);
  return spans;
}

}  // namespace

void write(const StepProfile& profile, const PreparedPlan& plan, wire::DeviceProfile::Builder to) {
  to.setDevice(as_text(plan.device_name()));
  to.setDriven(static_cast<uint64_t>(profile.driven));
  to.setElapsed(static_cast<uint64_t>(profile.elapsed));
  to.setBegin(static_cast<uint64_t>(profile.begin));
  const auto spans = spans_by_node(profile);
  const auto ran = std::ranges::count_if(profile.nodes, [](const auto& node) { return node.runs != 0; });
  auto nodes = to.initNodes(static_cast<uint32_t>(ran));
  uint32_t next = 0;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    if (profile.nodes[i].runs == 0) continue;
    auto node = nodes[next++];
    write(profile.nodes[i], plan, plan.plan().nodes()[i], node);
    auto list = node.initSpans(static_cast<uint32_t>(spans[i].size()));
    for (uint32_t k = 0; k < spans[i].size(); ++k) write(*spans[i][k], list[k]);
  }
}

std::vector<DeviceProfile> read(DeviceProfiles::Reader from) {
  const auto time = [](uint64_t nanoseconds) {
    return std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
  };
  std::vector<DeviceProfile> result;
  for (const auto device : from) {
    result.push_back({std::string(view(device.getDevice())),
                      {},
                      time(device.getDriven()),
                      time(device.getElapsed()),
                      time(device.getBegin()),
                      time(device.getAsked()),
                      time(device.getAnswered())});
    for (const auto node : device.getNodes()) {
      result.back().nodes.push_back({std::string(view(node.getName())),
                                     std::string(view(node.getOp())),
                                     node.getRuns(),
                                     time(node.getTime()),
                                     std::string(view(node.getEdge())),
                                     std::string(view(node.getPeer())),
                                     {}});
      for (const auto span : node.getSpans())
        result.back().nodes.back().spans.push_back(
            {time(span.getBegin()), time(span.getEnd()), span.getBytes(), span.getWaited()});
    }
  }
  return result;
}

}  // namespace troupe

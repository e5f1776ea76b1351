#include "actors/step/profile_wire.h"

#include <algorithm>

#include "messages/wire/wire.h"

namespace troupe {
namespace {

void write(const StepProfile::NodeWork& work, const PreparedPlan& plan, const PlanNode& node,
           wire::NodeProfile::Builder to) {
  const Graph& graph = plan.plan().graph();
  const bool is_feed = node.kind == PlanKind::Feed, is_fetch = node.kind == PlanKind::Fetch;
  const std::string& op = graph.node(node.node).type();
  to.setName(as_text(graph.node(node.node).name));
  to.setOp(as_text(is_feed ? "feed" : is_fetch ? "fetch" : op));
  to.setRuns(work.runs);
  to.setTime(static_cast<uint64_t>(work.nanoseconds));
}

}  // namespace

void write(const StepProfile& profile, const PreparedPlan& plan, wire::DeviceProfile::Builder to) {
  to.setDevice(as_text(plan.device_name()));
  to.setDriven(static_cast<uint64_t>(profile.driven));
  to.setElapsed(static_cast<uint64_t>(profile.elapsed));
  const auto ran = std::ranges::count_if(profile.nodes, [](const auto& node) { return node.runs != 0; });
  auto nodes = to.initNodes(static_cast<uint32_t>(ran));
  uint32_t next = 0;
  for (size_t i = 0; i < profile.nodes.size(); ++i)
    if (profile.nodes[i].runs != 0) write(profile.nodes[i], plan, plan.plan().nodes()[i], nodes[next++]);
}

std::vector<DeviceProfile> read(DeviceProfiles::Reader from) {
  const auto time = [](uint64_t nanoseconds) {
    return std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
  };
  std::vector<DeviceProfile> result;
  for (const auto device : from) {
    result.push_back(
        {std::string(view(device.getDevice())), {}, time(device.getDriven()), time(device.getElapsed())});
    for (const auto node : device.getNodes())
      result.back().nodes.push_back({std::string(view(node.getName())), std::string(view(node.getOp())),
                                     node.getRuns(), time(node.getTime())});
  }
  return result;
}

}  // namespace troupe

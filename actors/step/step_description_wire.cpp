#include "actors/step/step_description_wire.h"

#include "actors/site/graph_wire.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/texts_wire.h"

namespace troupe {

Message<wire::StepDescribed> describe(const PlacedStep& step) {
  Draft<wire::StepDescribed> draft;
  std::vector<Tensor> attachments;
  auto devices = draft->initDevices(static_cast<uint32_t>(step.devices.size()));
  for (uint32_t i = 0; i < devices.size(); ++i) devices.set(i, as_text(step.devices[i].name.text()));
  auto nodes = draft->initNodes(static_cast<uint32_t>(step.nodes.size()));
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].setName(as_text(step.nodes[i].name));
    nodes[i].setOp(as_text(step.nodes[i].op));
    nodes[i].setDevice(step.nodes[i].device);
  }
  write(step.ignored_requests,
        draft->initIgnoredRequests(static_cast<uint32_t>(step.ignored_requests.size())));
  auto parts = draft->initParts(static_cast<uint32_t>(step.partitions.size()));
  for (uint32_t i = 0; i < parts.size(); ++i) {
    parts[i].setDevice(step.partitions[i].device);
    write(step.partitions[i].graph, 0, parts[i].initGraph(), attachments);
  }
  return draft.finish(std::move(attachments));
}

Result<StepDescription> read(const Message<wire::StepDescribed>& message,
                             const std::shared_ptr<const OpTable>& ops) {
  const std::vector<std::string> devices = read(message->getDevices());
  const auto named = [&](uint32_t device) -> Result<std::string> {
    if (device < devices.size()) return devices[device];
    return invalid_argument("the description of a step names device " + std::to_string(device) + " of " +
                            std::to_string(devices.size()));
  };
  StepDescription description;
  for (const auto node : message->getNodes()) {
    TROUPE_ASSIGN(std::string device, named(node.getDevice()));
    description.nodes.push_back(
        {std::string(view(node.getName())), std::string(view(node.getOp())), std::move(device)});
  }
  description.ignored_requests = read(message->getIgnoredRequests());
  for (const auto part : message->getParts()) {
    TROUPE_ASSIGN(std::string device, named(part.getDevice()));
    Graph graph(ops);
    TROUPE_RETURN_IF_FAILED(read_into(graph, part.getGraph(), message));
    description.parts.push_back({std::move(device), std::move(graph)});
  }
  return description;
}

std::string StepDescription::text() const {
  std::string text;
  for (const PlacedNode& node : nodes) text += node.name + ": (" + node.op + ") " + node.device + '\n';
  for (const std::string& request : ignored_requests) text += request + '\n';
  return text;
}

}  // namespace troupe

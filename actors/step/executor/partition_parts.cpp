#include "actors/step/executor/partition_parts.h"

#include "actors/site/graph_wire.h"
#include "actors/step/executor/executor_shared.h"
#include "actors/step/executor/worker.h"
#include "messages/schemas/worker.capnp.h"

namespace troupe {
namespace {

std::shared_ptr<DeviceSite> find_site(const TaskSites& task, const std::string& device) {
  for (const auto& site : task.sites)
    if (site->device->name().text() == device) return site;
  return nullptr;
}

Result<std::vector<Output>> ends(const Graph& graph, capnp::List<wire::End>::Reader list,
                                 std::vector<uint32_t>& positions) {
  std::vector<Output> outputs;
  for (const auto end : list) {
    outputs.push_back({end.getOutput().getNode(), end.getOutput().getIndex()});
    positions.push_back(end.getPosition());
    if (const Status status = graph.check(outputs.back()); !status.ok())
      return invalid_argument("output " + std::to_string(end.getOutput().getIndex()) + " of node number " +
                              std::to_string(end.getOutput().getNode()) + " is to be fed or fetched; it " +
                              status.text());
  }
  return outputs;
}

Result<std::shared_ptr<const PreparedPlan>> prepare_plan(ActorNode& node, wire::Part::Reader part,
                                                         std::shared_ptr<const Graph> graph,
                                                         ExecutorOptions& options) {
  TROUPE_ASSIGN(const auto feeds, ends(*graph, part.getFeeds(), options.feeds));
  TROUPE_ASSIGN(const auto fetches, ends(*graph, part.getFetches(), options.fetches));
  TROUPE_ASSIGN(auto plan, Plan::make(std::move(graph), feeds, fetches));
  const DeviceSite& site = *options.site;
  return PreparedPlan::make(std::move(plan), node.library->kernels, *site.device,
                            [&options, &site](const Node& of) {
                              return site.state->require(options.container, of, site.device->name().text());
                            });
}

Result<PartitionPart> prepare_part(ActorNode& node, const TaskSites& task,
                                   const Message<wire::RegisterPartition>& message, wire::Part::Reader part,
                                   ExecutorOptions options) {
  const std::string device(view(part.getDevice()));
  options.site = find_site(task, device);
  if (!options.site) return not_found("task " + task.task + " has no device " + device);
  if (digest_of(part.getGraph()) != part.getGraphDigest())
    return data_loss("the graph for " + device +
                     " has another digest than the message says: it was damaged on its way");
  auto graph = std::make_shared<Graph>(node.library->ops);
  TROUPE_RETURN_IF_FAILED(read_into(*graph, part.getGraph(), message));
  TROUPE_ASSIGN(options.plan, prepare_plan(node, part, std::move(graph), options));
  auto shared = std::make_shared<ExecutorShared>(std::move(options));
  TROUPE_RETURN_IF_FAILED(shared->status);
  return PartitionPart{device, std::move(shared)};
}

}  // namespace

Result<std::vector<PartitionPart>> prepare_parts(ActorNode& node, const TaskSites& task,
                                                 const Message<wire::RegisterPartition>& message,
                                                 const ActorRef& master,
                                                 const std::shared_ptr<FairTurns::Session>& turns) {
  ExecutorOptions options;
  options.session = message->getSession();
  options.partition = message->getPartition();
  options.container = view(message->getContainer());
  options.seed = message->getSeed();
  options.master = master;
  options.turns = turns;
  options.client = read(message->getMaster());
  for (const auto executor : message->getExecutors())
    options.executors[std::string(view(executor.getDevice()))] = read(executor.getAddress());
  std::vector<PartitionPart> parts;
  for (const auto part : message->getParts()) {
    TROUPE_ASSIGN(auto prepared, prepare_part(node, task, message, part, options));
    parts.push_back(std::move(prepared));
  }
  return parts;
}

}  // namespace troupe

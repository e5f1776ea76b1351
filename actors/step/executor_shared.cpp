#include "actors/step/executor_shared.h"

#include "graph/passes/subgraph.h"
#include "messages/values/text_hash.h"

namespace troupe {
namespace {

ExecutorShared::Kind end_of_edge(const Node& node) {
  if (node.type() == "_Send" || node.type() == "_HostSend") return ExecutorShared::Kind::Send;
  if (node.type() == "_RefSend") return ExecutorShared::Kind::RefSend;
  if (node.type() == "_Recv" || node.type() == "_HostRecv") return ExecutorShared::Kind::Recv;
  return ExecutorShared::Kind::None;
}

}  // namespace

ExecutorShared::ExecutorShared(ExecutorOptions given) : options(std::move(given)) {
  const auto nodes = options.plan->nodes();
  requests.resize(nodes.size());
  for (size_t i = 0; i < nodes.size() && status.ok(); ++i) {
    const Node& node = *nodes[i].node;
    if (nodes[i].cell && node.op->served_by == ServedBy::Service) status = open(node);
    if (status.ok() && nodes[i].action == Action::Request) status = prepare(node, requests[i]);
    status = std::move(status).at_node(node.type(), node.name);
  }
}

Status ExecutorShared::prepare(const Node& node, Request& how) {
  how.kind = end_of_edge(node);
  if (how.kind != Kind::None) return prepare_transfer(node, how);
  TROUPE_ASSIGN(Service* const service, options.site->find_service(node.op->service));
  const std::shared_ptr<const Graph> graph(options.plan, &options.plan->plan().graph());
  TROUPE_ASSIGN(how.served, service->prepare(graph, node));
  how.kind = Kind::Service;
  return {};
}

Status ExecutorShared::prepare_transfer(const Node& node, Request& how) {
  how.edge = text_hash(node.attrs.get<std::string>("tensor_name"));
  const auto& device = node.attrs.get<std::string>(how.kind == Kind::Recv ? "send_device" : "recv_device");
  const bool client = device == client_device;
  const auto peer = options.executors.find(device);
  if (!client && peer == options.executors.end())
    return invalid_argument("the partition has no executor for device " + device);
  how.peer = client ? &options.client : &peer->second;
  if (how.kind != Kind::Recv) {
    sent_edges.insert(how.edge);
    return {};
  }
  received_edges.insert(how.edge);
  const Address other =
      client ? options.client : Address{how.peer->task, how.peer->incarnation, "worker", {}};
  how.from_other_process = !options.site->node.directory.find_local(other).ok();
  receives_from_other_processes |= how.from_other_process;
  return {};
}

Status ExecutorShared::open(const Node& handle) {
  DeviceSite& site = *options.site;
  TROUPE_ASSIGN(Service* const service, site.find_service(handle.op->service));
  TROUPE_ASSIGN(const auto cell, site.state->require(options.container, handle));
  return service->open(handle, cell);
}

}  // namespace troupe

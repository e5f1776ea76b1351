#include "actors/step/executor_shared.h"

#include "actors/services/replicas/replicas_requests.h"

namespace troupe {
namespace {

uint64_t hash_of(std::string_view text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

ExecutorShared::Kind end_of_edge(const Node& node) {
  if (node.type() == "_Send" || node.type() == "_HostSend") return ExecutorShared::Kind::Send;
  if (node.type() == "_RefSend") return ExecutorShared::Kind::RefSend;
  if (node.type() == "_Recv" || node.type() == "_HostRecv") return ExecutorShared::Kind::Recv;
  return ExecutorShared::Kind::None;
}

bool asks_if_initialized(const Node& node) {
  return node.op->served_by == ServedBy::Variable && node.op->allows_uninitialized_input &&
         node.output_types.size() == 1 && node.output_types[0].dtype == DType::Bool &&
         !node.output_types[0].is_ref;
}

}  // namespace

ExecutorShared::ExecutorShared(ExecutorOptions given) : options(std::move(given)) {
  const auto nodes = options.plan->nodes();
  requests.resize(nodes.size());
  for (size_t i = 0; i < nodes.size() && status.ok(); ++i) {
    const Node& node = *nodes[i].node;
    if (nodes[i].action == Action::Handle && node.op->served_by == ServedBy::Queue) status = open_queue(node);
    if (nodes[i].action == Action::Request) status = prepare(node, requests[i]);
    status = std::move(status).at_node(node.type(), node.name);
  }
}

ExecutorShared::~ExecutorShared() {
  for (const Request& how : requests)
    if (how.rule != 0) options.site->remove_rule(how.rule);
}

Status ExecutorShared::prepare(const Node& node, Request& how) {
  if (how.kind = end_of_edge(node); how.kind != Kind::None) {
    how.edge = hash_of(node.attrs.get<std::string>("tensor_name"));
    const auto& device = node.attrs.get<std::string>(how.kind == Kind::Recv ? "send_device" : "recv_device");
    const auto peer = options.executors.find(device);
    if (peer == options.executors.end()) return invalid_argument("no executor is known for " + device);
    how.peer = &peer->second;
    if (how.kind != Kind::Recv) {
      made_edges.insert(how.edge);
      return {};
    }
    taken_edges.insert(how.edge);
    const Address worker{how.peer->task, how.peer->incarnation, "worker", {}};
    how.from_elsewhere = !options.site->node.directory.find_here(worker).ok();
    receives_from_elsewhere |= how.from_elsewhere;
    return {};
  }
  if (asks_if_initialized(node)) {
    how.kind = Kind::IsInitialized;
    return {};
  }
  if (node.op->served_by == ServedBy::Variable) {
    how.kind = Kind::Update;
    DeviceSite& site = *options.site;
    const std::shared_ptr<const Graph> graph(options.plan, &options.plan->plan().graph());
    TROUPE_ASSIGN(auto rule, prepare_rule(graph, node, site.node.library->kernels, *site.device));
    how.rule = site.add_rule(std::move(rule));
    return {};
  }
  if (node.op->served_by == ServedBy::Replicas) return prepare_push(node, how);
  const auto op = node.op->served_by == ServedBy::Queue ? queue_op(*node.op) : std::nullopt;
  if (!op) return unimplemented("no actor carries out this op yet");
  how.kind = Kind::Queue;
  how.queue_op = *op;
  return {};
}

Status ExecutorShared::prepare_push(const Node& node, Request& how) {
  how.kind = Kind::Push;
  DeviceSite& site = *options.site;
  TROUPE_ASSIGN(auto replicated, prepare_replicated_rule(options.plan->plan().graph(), node,
                                                         *site.node.library, *site.device));
  how.rule = site.add_rule(std::move(replicated.rule));
  how.gradient = replicated.gradient;
  return {};
}

Status ExecutorShared::open_queue(const Node& handle) {
  DeviceSite& site = *options.site;
  TROUPE_ASSIGN(const QueueSpec spec, queue_spec(handle));
  TROUPE_ASSIGN(auto cell, site.state->require(options.container, handle));
  return site.queues.open(site.node, site.device, std::move(cell), spec);
}

}  // namespace troupe

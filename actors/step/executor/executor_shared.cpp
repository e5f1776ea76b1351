#include "actors/step/executor/executor_shared.h"

#include "graph/build/functions.h"
#include "graph/passes/subgraph.h"
#include "messages/values/device_name.h"
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

ExecutorShared::ExecutorShared(ExecutorOptions given) : options(std::move(given)), program{options.plan, {}} {
  status = prepare(program);
  while (status.ok() && !unprepared_.empty()) {
    CalledFunction* const next = unprepared_.back();
    unprepared_.pop_back();
    status = prepare_function(*next);
  }
}

Status ExecutorShared::prepare(Program& of) {
  const auto nodes = of.plan->nodes();
  of.requests.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i].node;
    Status prepared;
    if (nodes[i].cell && node.op->served_by == ServedBy::Service) prepared = open(node);
    if (prepared.ok() && nodes[i].action == Action::Request)
      prepared = prepare(of.plan, node, of.requests[i]);
    if (!prepared.ok()) return std::move(prepared).at_node(node.type(), node.name);
  }
  return {};
}

Status ExecutorShared::prepare(const std::shared_ptr<const PreparedPlan>& plan, const Node& node,
                               Request& how) {
  how.kind = end_of_edge(node);
  if (how.kind != Kind::None) return prepare_transfer(node, how);
  if (is_call(*node.op)) return prepare_call(node, how);
  TROUPE_ASSIGN(Service* const service, options.site->find_service(node.op->service));
  const std::shared_ptr<const Graph> graph(plan, &plan->plan().graph());
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

// Functions

Status ExecutorShared::prepare_call(const Node& node, Request& how) {
  const std::string& name = callee(node);
  const Function* const function = options.plan->plan().graph().find_function(name);
  if (!function || !function->body) return not_found("there is no function '" + name + "'");
  std::vector<DType> arguments, results;
  for (const NodeId argument : function->arguments) arguments.push_back(function->body->dtype({argument, 0}));
  for (const Output& result : function->results) results.push_back(function->body->dtype(result));
  if (arguments != node.attrs.get<std::vector<DType>>("Tin") ||
      results != node.attrs.get<std::vector<DType>>("Tout"))
    return invalid_argument("function " + name + " has " + std::to_string(arguments.size()) +
                            " arguments and " + std::to_string(results.size()) +
                            " results, whose dtypes differ from the attributes Tin and Tout of the call");
  const auto [at, is_new] = functions.try_emplace(name);
  if (is_new) {
    at->second.name = name;
    unprepared_.push_back(&at->second);
  }
  const AttrValue* const called_as = node.attrs.find(called_as_attr);
  const auto* const text = called_as ? std::get_if<std::string>(called_as) : nullptr;
  how.kind = Kind::Call;
  how.function = &at->second;
  how.path = text_hash(text ? *text : node.name);
  return {};
}

/// Checks what holds for the parts of steps because of the master's passes, but not for the bodies of functions.
Status ExecutorShared::check_body(const Function& function) const {
  const DeviceName here = options.site->device->name();
  for (const NodeId argument : function.arguments) {
    const Node& node = function.body->node(argument);
    if (node.type() != "_Arg" || node.output_shapes[0].known_rank())
      return invalid_argument("an argument must be an _Arg node of unknown shape")
          .at_node(node.type(), node.name);
  }
  for (const Node& node : function.body->nodes()) {
    if (is_transfer(*node.op))
      return invalid_argument("the body of a function cannot send or receive")
          .at_node(node.type(), node.name);
    TROUPE_ASSIGN(const DeviceName wanted, DeviceName::parse(node.device));
    if (!wanted.includes(here))
      return unimplemented("function " + function.name + " runs on " + here.text() +
                           ", where it is called, but one of its nodes requests " + node.device +
                           "; a function that calls itself cannot use several devices")
          .at_node(node.type(), node.name);
  }
  return {};
}

Status ExecutorShared::prepare_function(CalledFunction& called) {
  const Function& function = *options.plan->plan().graph().find_function(called.name);
  TROUPE_RETURN_IF_FAILED(check_body(function));
  std::vector<Output> arguments;
  for (const NodeId argument : function.arguments) arguments.push_back({argument, 0});
  TROUPE_ASSIGN(auto plan, Plan::make(function.body, arguments, function.results));
  DeviceSite& site = *options.site;
  TROUPE_ASSIGN(called.program.plan, PreparedPlan::make(
                                         std::move(plan), site.node.library->kernels, *site.device,
                                         [this, &site](const Node& node) {
                                           return site.state->require(options.container, node,
                                                                      site.device->name().text());
                                         },
                                         PlanOf::Function));
  constexpr size_t record = 1024;  // bytes: the step itself, its request, and its place in queues
  called.bytes = called.program.plan->context_bytes() + record;
  return prepare(called.program);
}

Status ExecutorShared::open(const Node& handle) {
  DeviceSite& site = *options.site;
  TROUPE_ASSIGN(Service* const service, site.find_service(handle.op->service));
  TROUPE_ASSIGN(const auto cell, site.state->require(options.container, handle));
  return service->open(handle, cell);
}

}  // namespace troupe

#include "tests/support/net/local_host.h"

#include "kernels/runtime/apply_update.h"

namespace troupe::test {

LocalRuntime::LocalRuntime(std::shared_ptr<const OpLibrary> library)
    : library_(std::move(library)),
      own_device_(std::make_unique<CpuDevice>(
          value_or_throw(DeviceName::parse("/job:test/replica:0/task:0/device:CPU:0")), 1, pool_)),
      device_(own_device_.get()) {}

LocalRuntime::LocalRuntime(std::shared_ptr<const OpLibrary> library, Device& device)
    : LocalRuntime(std::move(library), device, {}) {}

LocalRuntime::LocalRuntime(std::shared_ptr<const OpLibrary> library, Device& device,
                           std::function<void()> advance)
    : library_(std::move(library)), device_(&device), advance_(std::move(advance)) {}

Result<std::shared_ptr<const PreparedPlan>> LocalRuntime::prepare(const Graph& graph,
                                                                  const RunSignature& signature) {
  TROUPE_ASSIGN(const Subgraph cut, cut_subgraph(graph, signature));
  const DeviceInfo only{device_->name(), device_->incarnation()};
  TROUPE_ASSIGN(const auto partitions,
                partition(cut.graph, std::vector<DeviceId>(cut.graph.size(), 0), {&only, 1}));
  return prepare(partitions.at(0));
}

Result<std::shared_ptr<const PreparedPlan>> LocalRuntime::prepare(const Partition& partition) {
  const auto outputs = [](const std::vector<PartitionEnd>& ends) {
    std::vector<Output> result;
    for (const PartitionEnd& end : ends) result.push_back(end.output);
    return result;
  };
  TROUPE_ASSIGN(auto plan, Plan::make(std::make_shared<const Graph>(partition.graph),
                                      outputs(partition.feeds), outputs(partition.fetches)));
  return PreparedPlan::make(std::move(plan), library_->kernels, *device_,
                            [this](const Node& node) { return state_.require("", node); });
}

Result<std::vector<Tensor>> LocalRuntime::run(const std::shared_ptr<const PreparedPlan>& plan,
                                              std::vector<Tensor> feeds, const StepInfo& info) {
  return LocalHost(*library_, plan).run(std::move(feeds), info, advance_);
}

Result<std::vector<Tensor>> LocalRuntime::run(const Graph& graph, const Feeds& feeds,
                                              const std::vector<Output>& fetches) {
  RunSignature signature;
  std::vector<Tensor> values;
  for (const auto& [output, value] : feeds) {
    signature.feeds.push_back(output);
    values.push_back(value);
  }
  for (const Output& fetch : fetches) {
    if (fetch.is_control())
      signature.targets.push_back(fetch.node);
    else
      signature.fetches.push_back(fetch);
  }
  TROUPE_ASSIGN(auto plan, prepare(graph, signature));
  return run(plan, std::move(values));
}

Result<std::vector<Tensor>> run_graph(std::shared_ptr<const OpLibrary> library, const Graph& graph,
                                      const Feeds& feeds, const std::vector<Output>& fetches) {
  return LocalRuntime(std::move(library)).run(graph, feeds, fetches);
}

LocalHost::LocalHost(const OpLibrary& library, std::shared_ptr<const PreparedPlan> plan,
                     LocalRendezvous* rendezvous)
    : library_(library), plan_(std::move(plan)), runner_(plan_, *this),
      rendezvous_(rendezvous ? *rendezvous : own_) {}

void LocalHost::start(std::vector<Tensor> feeds, const StepInfo& info) {
  info_ = info;
  runner_.start(info, feeds);
  wake_ = true;
}

void LocalHost::wait_for_wake() {
  std::unique_lock lock(mutex_);
  woken_.wait(lock, [&] { return wake_; });
}

bool LocalHost::take_wake() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wake_, false);
}

Result<std::vector<Tensor>> LocalHost::run(std::vector<Tensor> feeds, const StepInfo& info,
                                           const std::function<void()>& advance) {
  start(std::move(feeds), info);
  while (!ended_) {
    if (take_wake())
      runner_.drive();
    else if (advance)
      advance();
    else
      wait_for_wake();
  }
  if (!ended_->ok()) return *ended_;
  const auto fetched = runner_.fetched();
  return std::vector<Tensor>(std::move_iterator(fetched.begin()), std::move_iterator(fetched.end()));
}

void LocalHost::request(StepRequest request) {
  const Node& node = request.node;
  if (is_transfer(*node.op)) {
    const Edge edge{node.attrs.get<std::string>("tensor_name"), request.where.frame, request.where.iteration};
    return node.inputs.empty() ? receive(request, edge) : send(request, edge);
  }
  (void)runner_.arrived(request.activation, change_variables(request));
}

void LocalHost::send(const StepRequest& request, const Edge& edge) {
  LocalRendezvous::Token token;
  token.reply.dead = request.dead;
  if (!request.dead && request.inputs[0].kind == Slot::Kind::Handle)
    token.cell = request.inputs[0].cell;
  else if (!request.dead)
    token.reply.outputs.push_back(std::move(request.inputs[0].tensor));
  if (const auto waiting = rendezvous_.waiting.extract(edge))
    waiting.mapped().first->deliver(waiting.mapped().second, std::move(token));
  else if (!rendezvous_.sent.emplace(edge, std::move(token)).second)
    return (void)runner_.arrived(request.activation, {aborted("an edge carries two tokens"), {}, false});
  (void)runner_.arrived(request.activation, {});
}

void LocalHost::receive(const StepRequest& request, const Edge& edge) {
  if (auto token = rendezvous_.sent.extract(edge))
    deliver(request.activation, std::move(token.mapped()));
  else
    rendezvous_.waiting.emplace(edge, std::pair(this, request.activation));
}

void LocalHost::deliver(Activation receiver, LocalRendezvous::Token token) {
  Snapshot snapshot;
  if (token.cell) {
    while (token.cell->try_read(snapshot) == StateCell::Reading::Busy) cpu_relax();
    token.reply.outputs.push_back(std::move(snapshot.value));
  }
  if (runner_.arrived(receiver, std::move(token.reply))) wake();
}

StepReply LocalHost::change_variables(const StepRequest& request) {
  const Node& node = request.node;
  if (!node.op->is_of_service(variable_service))
    return {unimplemented("a LocalHost does not serve this op"), {}, false};
  if (node.type() == "IsVariableInitialized" || node.type() == "VarIsInitializedOp") {
    const bool initialized = request.inputs[0].cell->reading() != StateCell::Reading::Uninitialized;
    return {{}, {Tensor::scalar(initialized)}, false};
  }
  DeviceContext& device = plan_->device().context();
  const auto def = library_.kernels.find(node, plan_->device().type());
  if (!def) return {def.status(), {}, false};
  const auto rule = (*def)->prepare({plan_->plan().graph(), node, device});
  if (!rule) return {rule.status(), {}, false};
  std::vector<Tensor> outputs;
  Snapshot before;
  if (yields_value(node) && request.inputs[0].cell->try_read(before) == StateCell::Reading::Ready)
    outputs.push_back(std::move(before.value));
  Status status = apply_update(**rule, node, request.inputs, device, info_);
  return {std::move(status), std::move(outputs), false};
}

// Readers have to wait only if a variable's owner writes on another thread. Here each write ends before anything else happens.
void LocalHost::read(Activation activation, uint32_t input, StateCell& cell) {
  Snapshot snapshot;
  while (cell.try_read(snapshot) == StateCell::Reading::Busy) cpu_relax();
  (void)runner_.value_arrived(activation, input, std::move(snapshot.value));
}

void LocalHost::failing(const Status& status) {
  auto& waiting = rendezvous_.waiting;
  for (auto at = waiting.begin(); at != waiting.end();) {
    if (at->second.first != this) {
      ++at;
      continue;
    }
    (void)runner_.arrived(at->second.second, {status, {}, false});
    at = waiting.erase(at);
  }
}

void LocalHost::wake() {
  const std::lock_guard lock(mutex_);
  wake_ = true;
  woken_.notify_one();
}

void LocalHost::ended(Status status) { ended_ = std::move(status); }

}  // namespace troupe::test

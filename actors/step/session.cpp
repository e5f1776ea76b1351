#include "actors/step/session.h"

#include <algorithm>
#include <optional>

#include "actors/checkpoint/checkpoint.h"
#include "actors/checkpoint/checkpoint_wire.h"
#include "actors/checkpoint/manifest.h"
#include "actors/site/graph_wire.h"
#include "actors/step/around_waits.h"
#include "actors/step/master.h"
#include "actors/step/queue_runners.h"
#include "actors/step/session_core.h"
#include "actors/step/session_impl.h"
#include "actors/step/step_description_wire.h"
#include "graph/build/variables.h"
#include "kernels/runtime/cancelled_by.h"
#include "messages/schemas/queue_runners.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/texts_wire.h"

namespace troupe {
namespace {

/// Returns what `ask` returns, which waits for an answer.
template <class Ask>
Result<AnyMessage> around_wait(const Ask& ask) {
  std::optional<Result<AnyMessage>> answer;
  AroundWaits::call([&] { answer = ask(); });
  return std::move(*answer);
}

/// Writes the feeds, fetches and targets of a PrepareStep or DescribeStep.
template <class Request>
void write_signature(const Graph& graph, const std::vector<Output>& feeds, const std::vector<Output>& outputs,
                     Request request) {
  std::vector<std::string> fed, fetches, targets;
  for (const Output& feed : feeds) fed.push_back(graph.name_of(feed));
  for (const Output& output : outputs) {
    if (output.is_control())
      targets.push_back(graph.node(output.node).name);
    else
      fetches.push_back(graph.name_of(output));
  }
  write(fed, request.initFeeds(static_cast<uint32_t>(fed.size())));
  write(fetches, request.initFetches(static_cast<uint32_t>(fetches.size())));
  write(targets, request.initTargets(static_cast<uint32_t>(targets.size())));
}

}  // namespace

Session::Impl::~Impl() {
  for (const ActorRef& runners : queue_runners) engine().stop(runners);
  if (!parts.connection)
    engine().stop(parts.master);
  else if (!closed)
    engine().send(parts.master, Draft<wire::CloseSession>().finish());
}

Result<AnyMessage> Session::Impl::call_around(AnyMessage message) const {
  return around_wait([&] { return call(std::move(message)); });
}

const Graph& Session::Impl::graph() const {
  constexpr const char* must_stay = "; a graph must stay where it is while it has sessions";
  if (!parts.graph.ops())
    throw Error(failed_precondition(std::string("the graph of the session has been moved to another object") +
                                    must_stay));
  if (parts.graph.stamp() != stamp)
    throw Error(failed_precondition(std::string("another graph has been assigned to that of the session") +
                                    must_stay));
  return parts.graph;
}

Status Session::Impl::extend() {
  std::unique_lock lock(extending, std::defer_lock);
  AroundWaits::call([&] { lock.lock(); });
  const size_t size = parts.graph.size();
  if (sent == size) return {};
  if (sent > size)
    return failed_precondition("the graph of the session has " + std::to_string(size) +
                               " nodes, but it had " + std::to_string(sent) +
                               " in an earlier call: while a session exists, its graph may only grow");
  Draft<wire::Extend> draft;
  std::vector<Tensor> attachments;
  write(parts.graph, static_cast<NodeId>(sent), draft->initGraph(), attachments);
  draft->setVersion(version);
  TROUPE_ASSIGN(const auto answer, call_around(draft.finish(std::move(attachments))));
  version = Message<wire::Extended>(answer)->getVersion();
  sent = size;
  return {};
}

void Session::Impl::check_outputs(const std::vector<Output>& feeds,
                                  const std::vector<Output>& fetches) const {
  const auto fail = [](const char* what, size_t i, const Status& status) {
    throw Error(invalid_argument(std::string(what) + ' ' + std::to_string(i) + ' ' + status.text()));
  };
  const Graph& known = graph();
  for (size_t i = 0; i < feeds.size(); ++i)
    if (const Status status = known.check_tensor(feeds[i]); !status.ok()) fail("feed", i, status);
  for (size_t i = 0; i < fetches.size(); ++i)
    if (const Status status = known.check(fetches[i]); !status.ok()) fail("fetch", i, status);
}

Message<wire::PrepareStep> Session::Impl::signature(const std::vector<Output>& feeds,
                                                    const std::vector<Output>& outputs,
                                                    Purpose purpose) const {
  Draft<wire::PrepareStep> draft;
  write_signature(parts.graph, feeds, outputs, *draft);
  draft->setHold(purpose != Purpose::Later);
  draft->setPartial(purpose == Purpose::PartialRun);
  return draft.finish();
}

Status SessionParts::located(const Status& failure) const {
  if (endpoint.empty() || failure.code() != Code::Unavailable || !failure.node().empty()) return failure;
  return Status(failure.code(), "the master at " + endpoint + ": " + failure.text());
}

Session SessionParts::open() && { return Session(std::make_shared<Session::Impl>(std::move(*this))); }

WorkerDevices worker_of(const TaskSites& task) {
  WorkerDevices worker{task.address("worker"), {}};
  for (const auto& site : task.sites) {
    const Device& device = *site->device;
    worker.devices.push_back({device.name(), device.incarnation(), device.memory_statistics().cap});
  }
  return worker;
}

Session open_session(ActorNode& node, const TaskSites& task, uint64_t id, const Graph& graph,
                     std::vector<WorkerDevices> workers, const SessionOptions& options,
                     std::shared_ptr<void> owner) {
  const Address master = task.address("master", std::to_string(id));
  const ActorRef to = spawn_master(node, master, id, workers, options);
  return SessionParts{.owner = std::move(owner),
                      .connection = nullptr,
                      .endpoint = {},
                      .node = node,
                      .master = to,
                      .graph = graph,
                      .container = state_container(id, options),
                      .master_address = master,
                      .coordinator = checkpoint_coordinator_address(task.address("worker")),
                      .workers = std::move(workers)}
      .open();
}

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;

Session::Impl& Session::held() const { return held_by(impl_, "session"); }

Session& Session::operator=(Session&& other) noexcept {
  std::swap(impl_, other.impl_);
  if (this != &other) Session(std::move(other));  // ends the session that was here
  return *this;
}

Session::~Session() {
  // Steps on other threads keep what they need of the session until they end.
  if (impl_ && impl_.use_count() > 1) cancel();
}

std::vector<Tensor> Session::run(const std::vector<std::pair<Output, Tensor>>& feeds,
                                 const std::vector<Output>& fetches, const StepOptions& options) {
  Impl::Key key{{}, fetches};
  std::vector<Tensor> tensors;
  for (const auto& [output, tensor] : feeds) {
    key.first.push_back(output);
    tensors.push_back(tensor);
  }
  // Checked before the lookup, because an Output of another graph may equal one of a known step.
  held().check_outputs(key.first, key.second);
  PreparedStep step;
  {
    const std::lock_guard lock(impl_->mutex);
    if (const auto known = impl_->steps.find(key); known != impl_->steps.end()) step = known->second;
  }
  if (!step.state_) {
    step = prepare(key.first, key.second);
    const std::lock_guard lock(impl_->mutex);
    if (impl_->steps.size() >= Impl::max_steps) impl_->steps.clear();
    impl_->steps.emplace(std::move(key), step);
  }
  return step.run(tensors, options);
}

PreparedStep Session::prepare(const std::vector<Output>& feeds, const std::vector<Output>& fetches) {
  held().check_outputs(feeds, fetches);
  throw_if_failed(impl_->extend());
  PreparedStep step;
  step.state_ = std::make_shared<PreparedStep::State>();
  step.state_->session = impl_;
  step.state_->feeds = feeds;
  step.state_->outputs = fetches;
  step.state_->handle = value_or_throw(impl_->prepare(feeds, fetches, Impl::Purpose::Later));
  return step;
}

StepDescription Session::describe(const std::vector<Output>& feeds, const std::vector<Output>& fetches) {
  held().check_outputs(feeds, fetches);
  throw_if_failed(impl_->extend());
  Draft<wire::DescribeStep> draft;
  write_signature(impl_->parts.graph, feeds, fetches, *draft);
  const Message<wire::StepDescribed> described(impl_->located(impl_->call_around(draft.finish())));
  return value_or_throw(read(described, impl_->parts.graph.ops()));
}

namespace {

/// Returns the task that a node requests, itself or through nodes with which it is colocated.
DeviceName requested_task(const Graph& graph, const Node& node) {
  const auto device = DeviceName::parse(node.device);
  DeviceName task = device ? device->task_name() : DeviceName();
  for (const std::string& name : node.colocate_with) {
    const Node* const other = graph.find(name);
    if (other && other->id < node.id) task = override_with(task, requested_task(graph, *other));
  }
  return task;
}

}  // namespace

/// Returns the nodes of the variables that checkpoints hold, as targets: all but the local ones.
std::vector<Output> Session::Impl::variables() const {
  const auto local = local_variables(graph());
  std::vector<Output> variables;
  for (const Node& node : parts.graph.nodes())
    if (is_variable(node) && std::ranges::count(local, node.id, &Output::node) == 0)
      variables.push_back({node.id, Output::control});
  return variables;
}

template <class List>
void Session::Impl::write_variables(const std::vector<Output>& variables, List list) const {
  for (uint32_t i = 0; i < list.size(); ++i) {
    const Node& node = parts.graph.node(variables[i].node);
    list[i].setName(as_text(state_name(node)));
    list[i].setTask(as_text(requested_task(parts.graph, node).text()));
  }
}

template <class List>
void Session::Impl::write_writers(List writers) const {
  for (uint32_t i = 0; i < writers.size(); ++i)
    write(checkpoint_writer_address(parts.workers[i].worker), writers[i]);
}

template <class Request>
void Session::Impl::set_location(Request request, const std::string& folder) const {
  request.setFolder(as_text(folder));
  request.setContainer(as_text(parts.container));
  write_writers(request.initWriters(static_cast<uint32_t>(parts.workers.size())));
}

/// Returns a number that no other session uses for a state. It is never 0.
uint64_t Session::Impl::next_state() {
  const uint64_t session = std::hash<std::string>()(parts.master_address.text());
  return (session + 2 * ++last_state) | 1;
}

ActorRef Session::Impl::coordinator() const {
  if (closed) throw Error(failed_precondition("the session is closed"));
  return value_or_throw(parts.node.directory.find(parts.coordinator));
}

AnyMessage Session::Impl::ask_coordinator(AnyMessage message) const {
  return located(around_wait([&] { return engine().call(coordinator(), std::move(message)); }));
}

AnyMessage Session::Impl::located(Result<AnyMessage> answer) const {
  if (!answer) throw Error(parts.located(answer.status()));
  return std::move(*answer);
}

struct PendingSave::State {
  const Session::Impl& session;
  std::atomic<bool> done{false};
  Result<AnyMessage> answer{internal("the answer has not arrived")};
  bool taken = false;  ///< wait() has returned the answer
};

bool PendingSave::done() const { return state().done.load(std::memory_order_acquire); }

PendingSave::State& PendingSave::state() const {
  if (!state_) throw Error(failed_precondition("there is no save: Session::begin_save begins one"));
  return *state_;
}

SavedCheckpoint PendingSave::wait(const Cancellation* cancellation) {
  if (state().taken) throw Error(failed_precondition("the result of this save has been returned before"));
  Scheduler& scheduler = state_->session.parts.node.scheduler;
  std::atomic<bool> given_up{false};
  {
    const CancelledBy cancelled_by(cancellation, [&] {
      given_up = true;
      scheduler.wake();
    });
    AroundWaits::call([&] { scheduler.wait([&] { return done() || given_up; }, 0); });
  }
  if (given_up)
    throw Error(cancelled("the wait for the checkpoint was cancelled; it is written all the same"));
  state_->taken = true;
  const Message<wire::CheckpointSaved> saved(state_->session.located(std::move(state_->answer)));
  return {std::string(view(saved->getFolder())), std::string(view(saved->getProblem()))};
}

SavedCheckpoint Session::save(const std::string& folder, const SaveOptions& options) {
  return begin_save(folder, options).wait();
}

PendingSave Session::begin_save(const std::string& folder, const SaveOptions& options) {
  throw_if_failed(check_note(options.note));
  const uint64_t state = held().next_state();
  Draft<wire::HoldState> hold;
  hold->setState(state);
  hold->setContainer(as_text(impl_->parts.container));
  impl_->write_writers(hold->initWriters(static_cast<uint32_t>(impl_->parts.workers.size())));
  const auto variables = impl_->variables();
  impl_->write_variables(variables, hold->initVariables(static_cast<uint32_t>(variables.size())));
  impl_->ask_coordinator(hold.finish());
  Draft<wire::SaveCheckpoint> draft;
  draft->setState(state);
  impl_->set_location(*draft, folder);
  draft->setRound(options.round);
  draft->setNote(as_text(options.note));
  draft->setUnhurried(options.unhurried);
  draft->setKeep(static_cast<uint32_t>(std::min<size_t>(options.keep, UINT32_MAX)));
  draft->setPinned(options.pinned);
  write(impl_->parts.master_address, draft->initMaster());
  PendingSave save;
  save.state_ = std::shared_ptr<PendingSave::State>(new PendingSave::State{*impl_});
  Scheduler& scheduler = impl_->parts.node.scheduler;
  impl_->engine().send(impl_->coordinator(), draft.finish(),
                       Reply([shared = save.state_, &scheduler](Result<AnyMessage> answer) {
                         shared->answer = std::move(answer);
                         shared->done.store(true, std::memory_order_release);
                         scheduler.wake();
                       }));
  return save;
}

RestoredCheckpoint Session::restore(const std::string& folder, const std::string& name) {
  // The variables get their devices when a step that contains them is prepared.
  const std::vector<Output> variables = held().variables();
  if (!variables.empty()) prepare({}, variables);
  Draft<wire::RestoreCheckpoint> draft;
  impl_->set_location(*draft, folder);
  if (!name.empty()) draft->setName(as_text(name));
  const Message<wire::CheckpointRestored> restored(impl_->ask_coordinator(draft.finish()));
  return {std::string(view(restored->getFolder())), restored->getRound(),
          std::string(view(restored->getNote())), read(restored->getSkipped()), read(restored->getMissing())};
}

const Graph& Session::graph() const { return held().parts.graph; }

std::vector<DeviceDescription> Session::devices() const {
  std::vector<DeviceDescription> devices;
  for (const WorkerDevices& worker : held().parts.workers)
    for (const DeviceInfo& device : worker.devices)
      devices.push_back({device.name.text(), device.name.type, device.memory, device.incarnation});
  return devices;
}

void Session::start_queue_runners(const std::vector<QueueRunner>& runners) {
  Impl& session = held();
  const auto signature = [&](const Output& target) {
    session.check_outputs({}, {target});
    return impl_->signature({}, {target}, Impl::Purpose::Step);
  };
  std::vector<QueueRunnerSteps> steps;
  for (const QueueRunner& runner : runners) {
    QueueRunnerSteps& added = steps.emplace_back();
    for (const Output& target : runner.enqueue) added.enqueue.push_back(signature(target));
    if (runner.close) added.close = signature(*runner.close);
    if (runner.cancel) added.cancel = signature(*runner.cancel);
    added.ends = runner.ends;
  }
  throw_if_failed(impl_->extend());
  const std::lock_guard lock(impl_->mutex);
  impl_->queue_runners.push_back(spawn_queue_runners(impl_->parts.node, impl_->parts.master,
                                                     ++impl_->last_queue_runners, std::move(steps)));
}

void Session::start_queue_runners() {
  const std::vector<QueueRunner> all = queue_runners(held().graph());
  const size_t first = impl_->noted_runners_started.exchange(all.size());
  if (first == all.size()) return;
  try {
    start_queue_runners({all.begin() + static_cast<ptrdiff_t>(first), all.end()});
  } catch (...) {
    impl_->noted_runners_started = first;
    throw;
  }
}

void Session::stop_queue_runners(std::chrono::nanoseconds timeout) {
  const int64_t deadline = deadline_after(held().parts.node.env.clock, timeout);
  std::vector<ActorRef> stopped;
  {
    const std::lock_guard lock(impl_->mutex);
    stopped.swap(impl_->queue_runners);
  }
  Status failure;
  for (const ActorRef& runners : stopped) {
    const auto ended = impl_->engine().call(runners, Draft<wire::StopQueueRunners>().finish(), deadline);
    if (failure.ok()) failure = ended.status();
    impl_->engine().stop(runners);
  }
  throw_if_failed(failure);
}

void Session::cancel() {
  if (!held().closed.exchange(true))
    impl_->engine().send(impl_->parts.master, Draft<wire::CloseSession>().finish());
}

void Session::close(std::chrono::nanoseconds timeout) {
  const int64_t deadline = deadline_after(held().parts.node.env.clock, timeout);
  if (impl_->closed.exchange(true)) return;
  const auto answer =
      impl_->engine().call(impl_->parts.master, Draft<wire::CloseSession>().finish(), deadline);
  if (!answer && answer.status().code() != Code::Unavailable) throw Error(answer.status());
}

}  // namespace troupe

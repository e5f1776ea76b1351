#include "actors/step/master.h"

#include <deque>
#include <map>
#include <set>

#include "actors/engine/offloading_role.h"
#include "actors/site/graph_wire.h"
#include "actors/step/master_steps.h"
#include "actors/step/preparing.h"
#include "actors/step/step_description_wire.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/limits.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr size_t max_cancelled_early = 64;
/// In nanoseconds. A longer time limit of a step, which a client may send, counts as this.
constexpr uint64_t max_remaining = longest_wait.count();

/// Returns a text that differs for signatures with other feeds, fetches or targets.
template <class Request>
std::string bucket_key(Request request) {
  std::string key;
  for (const auto& list : {request.getFeeds(), request.getFetches(), request.getTargets()}) {
    for (const auto name : list) key.append(view(name)) += '\n';
    key += '\0';
  }
  return key;
}

std::vector<std::string> names(capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> result;
  for (const auto name : list) result.emplace_back(view(name));
  return result;
}

class MasterRole final : public OffloadingRole {
 public:
  MasterRole(ActorNode& node, Address address, uint64_t session, std::vector<WorkerDevices> workers,
             SessionOptions options, ActorRef client)
      : OffloadingRole(node), address_(std::move(address)), session_(session), workers_(std::move(workers)),
        options_(std::move(options)), client_(std::move(client)),
        graph_(std::make_shared<const Graph>(node.library->ops)), trials_(options_.device_choice),
        partial_runs_(node, session,
                      {[this](const ActorRef& to, AnyMessage message, Answer then) {
                         ask(to, std::move(message), std::move(then));
                       },
                       [this](uint64_t ordinal, Status status) {
                         if (const auto at = steps_.find(ordinal); at != steps_.end())
                           fail(at->second, std::move(status));
                       }}) {
    on<wire::Extend>([this](const auto& message, Reply reply) { extend(message, std::move(reply)); });
    on<wire::PrepareStep>([this](const auto& message, Reply reply) { prepare(message, std::move(reply)); });
    on<wire::DescribeStep>(
        [this](const auto& message, Reply reply) { describe_step(*message, std::move(reply)); });
    on<wire::RunStep>([this](const auto& message, Reply reply) { run(message, std::move(reply)); });
    on<wire::BeginPartialRun>(
        [this](const auto& message, Reply reply) { begin_partial_run(message, std::move(reply)); });
    on<wire::ContinuePartialRun>([this](const auto& message, Reply reply) {
      partial_runs_.proceed(message, *graph_, std::move(reply));
    });
    on<wire::EndPartialRun>([this](const auto& message, Reply) { end_partial_run(message->getOrdinal()); });
    on<wire::TensorsArrived>([this](const auto& message, Reply) { partial_runs_.tensors_arrived(message); });
    on<wire::FindTokens>(
        [this](const auto& message, Reply reply) { partial_runs_.find_tokens(message, std::move(reply)); });
    on<wire::PartitionBroken>([this](const auto& message, Reply) { broken(message); });
    on<wire::CancelStep>([this](const auto& message, Reply) { cancel(message->getCall()); });
    on<wire::ConfirmStep>([this](const auto& message, Reply reply) { confirm(*message, std::move(reply)); });
    on<wire::AbortAgain>([this](const auto& message, Reply) {
      const auto at = steps_.find(message->getOrdinal());
      if (at == steps_.end()) return;
      at->second.again = 0;
      abort(at->second);
    });
    on<wire::StepExpired>([this](const auto& message, Reply) { expire(message->getOrdinal()); });
    on<wire::ResetSession>([this](const auto&, Reply) {
      end_all(aborted("the session has ended, because the state of its containers was reset"));
    });
    on<wire::CloseSession>([this](const auto&, Reply reply) { close(std::move(reply)); });
  }

 private:
  void started() override {
    if (client_) watch(client_, [this](const Status&) { close({}); });
  }

  void stopping() override {
    node_.directory.remove(address_);
    for (const auto& [ordinal, step] : steps_) cancel_timers(step);
    while (!signatures_.empty()) forget(signatures_.begin()->second);
  }

  void extend(const Message<wire::Extend>& message, Reply reply) {
    if (!refusal_.ok()) return reply(refusal_);
    if (message->getVersion() != version_)
      return reply(aborted("Extend is for version " + std::to_string(message->getVersion()) +
                           " of the graph, but the graph has version " + std::to_string(version_)));
    Graph extended = *graph_;
    if (Status status = read_into(extended, message->getGraph(), message); !status.ok())
      return reply(std::move(status));
    graph_ = std::make_shared<const Graph>(std::move(extended));
    Draft<wire::Extended> draft;
    draft->setVersion(++version_);
    reply(draft.finish());
  }

  // Preparing, which happens once per signature.

  void prepare(const Message<wire::PrepareStep>& message, Reply reply) {
    if (!refusal_.ok()) return reply(refusal_);
    std::string key = bucket_key(*message);
    if (message->getPartial()) key += '\0';
    if (const auto known = handles_.find(key); known != handles_.end()) {
      const auto& prepared = signatures_.at(known->second);
      prepared->waiting.push_back({std::move(reply), message->getHold()});
      if (prepared->registering == 0) answer_prepared(*prepared);
      return;
    }
    auto signature = signature_of(*message);
    if (!signature) return reply(signature.status());
    signature->partial = message->getPartial();
    auto prepared = std::make_shared<PreparedSignature>();
    prepared->key = std::move(key);
    prepared->handle = ++last_handle_;
    prepared->feeds = signature->feeds.size();
    prepared->fetches = signature->fetches.size();
    prepared->last_use = last_ordinal_;
    prepared->registering = 1;  // until it is compiled
    prepared->waiting.push_back({std::move(reply), message->getHold()});
    make_room();
    handles_.emplace(prepared->key, prepared->handle);
    signatures_.emplace(prepared->handle, prepared);
    compile_later({std::move(prepared), std::move(*signature), {}, {}});
  }

  void describe_step(wire::DescribeStep::Reader request, Reply reply) {
    if (!refusal_.ok()) return reply(refusal_);
    auto signature = signature_of(request);
    if (!signature) return reply(signature.status());
    compile_later({{}, std::move(*signature), bucket_key(request), std::move(reply)});
  }

  template <class Request>
  Result<RunSignature> signature_of(Request request) const {
    return resolve_signature(*graph_, names(request.getFeeds()), names(request.getFetches()),
                             names(request.getTargets()));
  }

  struct ToCompile {
    std::shared_ptr<PreparedSignature> prepared;  ///< null: the signature is only to be described
    RunSignature signature;
    std::string key;  ///< of a signature that is to be described
    Reply described;  ///< gets the description
  };
  void compile_later(ToCompile next) {
    to_compile_.push_back(std::move(next));
    if (to_compile_.size() == 1) compile_next();
  }

  /// Compiles the first signature that waits for it, on the pool: a large graph takes a second. One at a time, because each needs
  /// the homes that those before it have chosen.
  void compile_next() {
    const ToCompile& next = to_compile_.front();
    if (!next.prepared) return describe_next();
    compute<Compiled>(
        [graph = graph_, signature = next.signature, &node = node_, workers = workers_, options = options_,
         owner = PartitionOwner{address_, session_, next.prepared->handle}, homes = homes_,
         times = trials_.times(), candidate = trials_.candidate(next.prepared->key)] {
          return compile(*graph, signature, *node.library, workers, options, owner, *homes,
                         {times.get(), candidate});
        },
        [this](Result<Compiled> compiled) {
          const auto done = take_compiled().prepared;
          if (compiled && !refusal_.ok()) compiled = refusal_;
          if (!compiled) return registered(done, compiled.status());
          done->partial = std::move(compiled->partial);
          register_shares(done, compiled->shares);
          registered(done, {});
        });
  }

  void describe_next() {
    const ToCompile& next = to_compile_.front();
    compute<Message<wire::StepDescribed>>(
        [graph = graph_, signature = next.signature, &node = node_, workers = workers_, options = options_,
         homes = homes_, times = trials_.times(),
         candidate = trials_.candidate(next.key)]() -> Result<Message<wire::StepDescribed>> {
          TROUPE_ASSIGN(const PlacedStep step, place_step(*graph, signature, *node.library, workers, options,
                                                          *homes, {times.get(), candidate}));
          return describe(step);
        },
        [this](Result<Message<wire::StepDescribed>> described) {
          Reply reply = take_compiled().described;
          if (!described) return reply(described.status());
          reply(std::move(*described));
        });
  }

  /// Removes the first signature, which has been compiled, and begins with the next one.
  ToCompile take_compiled() {
    ToCompile done = std::move(to_compile_.front());
    to_compile_.pop_front();
    if (!to_compile_.empty()) compile_next();
    return done;
  }

  struct Compiled {
    std::vector<WorkerShare> shares;
    std::shared_ptr<const PartialSignature> partial;  ///< of a signature of partial runs
  };
  static Result<Compiled> compile(const Graph& graph, RunSignature signature, const OpLibrary& library,
                                  const std::vector<WorkerDevices>& workers, const SessionOptions& options,
                                  const PartitionOwner& owner, std::vector<DeviceId>& homes,
                                  const PlacementKnowledge& known) {
    Compiled result;
    TROUPE_ASSIGN(result.shares,
                  compile_step(graph, signature, library, workers, options, owner, homes, known));
    if (signature.partial)
      result.partial = std::make_shared<const PartialSignature>(
          partial_signature(graph, std::move(signature), result.shares));
    return result;
  }

  void register_shares(const std::shared_ptr<PreparedSignature>& prepared, std::vector<WorkerShare>& shares) {
    prepared->registering += shares.size();
    for (WorkerShare& share : shares) {
      const auto worker = node_.directory.find(workers_[share.worker].worker);
      if (!worker) {
        registered(prepared, worker.status());
        continue;
      }
      prepared->shares.push_back({*worker, std::move(share.feeds), std::move(share.seeded)});
      prepared->remote |= !node_.directory.find_local(workers_[share.worker].worker).ok();
      ask(*worker, std::move(share.registration),
          [this, prepared](const Result<AnyMessage>& answer) { registered(prepared, answer.status()); });
    }
  }

  void registered(const std::shared_ptr<PreparedSignature>& prepared, Status status) {
    if (!status.ok() && prepared->failure.ok()) prepared->failure = std::move(status);
    if (--prepared->registering != 0) return;
    answer_prepared(*prepared);
    if (!prepared->failure.ok()) forget(prepared);
  }

  static void answer_prepared(PreparedSignature& prepared) {
    for (auto& [reply, hold] : std::exchange(prepared.waiting, {})) {
      if (!prepared.failure.ok()) {
        reply(prepared.failure);
        continue;
      }
      prepared.holds += hold ? 1 : 0;
      Draft<wire::StepPrepared> draft;
      draft->setHandle(prepared.handle);
      reply(draft.finish());
    }
  }

  /// Drops the signatures used longest ago until there is room for one more. Keeps those in use.
  void make_room() {
    while (signatures_.size() >= options_.signatures) {
      std::shared_ptr<PreparedSignature> oldest;
      for (const auto& [handle, prepared] : signatures_)
        if (!prepared->in_use() && (!oldest || prepared->last_use < oldest->last_use)) oldest = prepared;
      if (!oldest) return;
      forget(oldest);
    }
  }

  void forget_if_over(const std::shared_ptr<PreparedSignature>& prepared) {
    if (prepared->retired && !prepared->in_use()) forget(prepared);
  }

  void forget(std::shared_ptr<PreparedSignature>
                  prepared) {  // NOLINT: by value, because the map's reference is erased
    Draft<wire::DeregisterPartition> draft;
    draft->setSession(session_);
    draft->setPartition(prepared->handle);
    const auto message = draft.finish();
    for (const auto& share : prepared->shares) tell(share.worker, message);
    retire(*prepared);
    signatures_.erase(prepared->handle);
  }

  // Running.

  void run(const Message<wire::RunStep>& message, Reply reply) {
    const auto prepared = take_prepared(*message, false);
    if (!prepared) return reply(prepared.status());
    if (message.attachments().size() != (*prepared)->feeds)
      return reply(invalid_argument("the step was prepared with " + std::to_string((*prepared)->feeds) +
                                    " feeds, but got " + std::to_string(message.attachments().size()) +
                                    " tensors"));
    MasterStep& step = new_step(*message, *prepared);
    step.reply = std::move(reply);
    step.fetches.resize((*prepared)->fetches);
    start(step, *message, message);
  }

  void begin_partial_run(const Message<wire::BeginPartialRun>& message, Reply reply) {
    const auto request = message->getRun();
    const auto prepared = take_prepared(request, true);
    if (!prepared) return reply(prepared.status());
    if (!message.attachments().empty() || request.getProfile())
      return reply(invalid_argument("a partial run begins without tensors, and has no profile"));
    MasterStep& step = new_step(request, *prepared);
    partial_runs_.begin(step.ordinal, (*prepared)->partial);
    Draft<wire::PartialRunBegun> draft;
    draft->setOrdinal(step.ordinal);
    reply(draft.finish());
    start(step, request, message);
  }

  void end_partial_run(uint64_t ordinal) {
    if (const auto at = steps_.find(ordinal); at != steps_.end())
      fail(at->second, cancelled("the partial run was dropped by its caller"));
    partial_runs_.drop(ordinal);
  }

  /// Returns the signature for a new step, and ends the hold that was for this step.
  Result<std::shared_ptr<PreparedSignature>> take_prepared(wire::RunStep::Reader request, bool partial) {
    const uint64_t handle = request.getHandle();
    const auto found = signatures_.find(handle);
    const bool usable = found != signatures_.end() && !found->second->retired;
    if (request.getHeld() && found != signatures_.end() && found->second->holds > 0) {
      --found->second->holds;
      forget_if_over(found->second);
    }
    if (!refusal_.ok()) return refusal_;
    if (cancelled_early_.erase(request.getCall()) > 0) return cancelled_by_caller();
    if (!usable)
      return aborted("the signature with handle " + std::to_string(handle) +
                     " is not prepared any more; prepare it again");
    if ((found->second->partial != nullptr) != partial)
      return invalid_argument(
          "the signature with handle " + std::to_string(handle) + " was prepared for " +
          (partial ? "whole steps, not for partial runs" : "partial runs, not for whole steps"));
    return found->second;
  }

  MasterStep& new_step(wire::RunStep::Reader request, const std::shared_ptr<PreparedSignature>& prepared) {
    MasterStep step;
    step.ordinal = ++last_ordinal_;
    step.call = request.getCall();
    step.profiled = request.getProfile();
    if (!prepared->partial) step.measured = trials_.begins(prepared->key);
    if (step.measured.any()) step.begun = node_.env.clock.now();
    step.prepared = prepared;
    step.pending = prepared->shares.size();
    if (const uint64_t remaining = std::min(request.getRemaining(), max_remaining); remaining != 0)
      step.timer = call_in<wire::StepExpired>(static_cast<int64_t>(remaining), step.ordinal);
    prepared->running.insert(step.ordinal);
    prepared->last_use = step.ordinal;
    const uint64_t ordinal = step.ordinal;
    return steps_.emplace(ordinal, std::move(step)).first->second;
  }

  /// Sends a new step to its workers, with the tensors of `message`.
  void start(MasterStep& step, wire::RunStep::Reader request, const AnyMessage& message) {
    const uint64_t ordinal = step.ordinal;
    const auto prepared = step.prepared;
    if (step.profiled || step.measured.nodes) step.times.begin();
    for (const auto& share : prepared->shares)
      ask(share.worker, partition_message(request, message, *prepared, share, step),
          [this, ordinal](Result<AnyMessage> done) { partition_done(ordinal, std::move(done)); });
    for (const auto& share : prepared->shares)
      for (const auto& node : share.seeded) ++runs_[node];
  }

  Message<wire::RunPartition> partition_message(wire::RunStep::Reader request, const AnyMessage& message,
                                                const PreparedSignature& prepared,
                                                const PreparedSignature::Share& share,
                                                const MasterStep& step) const {
    Draft<wire::RunPartition> draft;
    set_step(draft->initStep(), session_, step.ordinal);
    draft->setPartition(prepared.handle);
    draft->setFloor(*prepared.running.begin());
    draft->setRemaining(request.getRemaining());
    draft->setTraining(request.getTraining());
    draft->setRound(request.getRound());
    draft->setShard(request.getShard());
    draft->setUnlocked(request.getUnlocked());
    draft->setProfile(step.profiled || step.measured.nodes);
    auto earlier = draft->initEarlierRuns(static_cast<uint32_t>(share.seeded.size()));
    for (uint32_t i = 0; i < earlier.size(); ++i) {
      const auto known = runs_.find(share.seeded[i]);
      earlier[i].setNode(as_text(share.seeded[i]));
      earlier[i].setRuns(known == runs_.end() ? 0 : known->second);
    }
    const auto feeds = message.attachments();
    if (share.feeds.size() == feeds.size()) return draft.finish({feeds.begin(), feeds.end()});
    std::vector<Tensor> some;
    auto positions = draft->initPositions(static_cast<uint32_t>(share.feeds.size()));
    for (uint32_t i = 0; i < share.feeds.size(); ++i) {
      positions.set(i, share.feeds[i]);
      some.push_back(feeds[share.feeds[i]]);
    }
    return draft.finish(std::move(some));
  }

  /// Sends this actor the message T about a step after `nanoseconds`.
  template <class T>
  TimerId call_in(int64_t nanoseconds, uint64_t ordinal) {
    return node_.env.clock.call_at(node_.env.clock.now() + nanoseconds,
                                   [this_actor = self(), ordinal, &node = node_] {
                                     Draft<T> draft;
                                     draft->setOrdinal(ordinal);
                                     node.engine.send(this_actor, draft.finish());
                                   });
  }

  void cancel_timers(const MasterStep& step) {
    for (const TimerId timer : {step.timer, step.again})
      if (timer != 0) node_.env.clock.cancel(timer);
  }

  void partition_done(uint64_t ordinal, Result<AnyMessage> answer) {
    const auto at = steps_.find(ordinal);
    if (at == steps_.end()) return;
    MasterStep& step = at->second;
    --step.pending;
    if (!answer) {
      // A restarted worker may not know the partition, or may need another stub.
      if (answer.status().code() == Code::Unavailable || must_prepare_again(answer.status()))
        retire(*step.prepared);
      fail(step, answer.status());
    } else {
      const Message<wire::PartitionDone> done(std::move(*answer));
      const auto what = *done;
      const auto id = what.getStep();
      if (id.getOrdinal() != ordinal || id.getSession() != session_ ||
          what.getPartition() != step.prepared->handle)
        fail(step,
             internal("a worker answered for step " + std::to_string(id.getOrdinal()) + " of partition " +
                      std::to_string(what.getPartition()) + " instead of step " + std::to_string(ordinal) +
                      " of partition " + std::to_string(step.prepared->handle)));
      uint32_t i = 0;
      for (const uint32_t position : what.getPositions())
        if (position < step.fetches.size() && i < done.attachments().size())
          step.fetches[position] = done.attachments()[i++];
      if (step.profiled || step.measured.nodes) step.times.add(done);
    }
    if (step.pending == 0) end(at);
  }

  /// Records the first failure of a step, and ends the step in all processes.
  void fail(MasterStep& step, Status status) {
    if (!step.failure.ok()) return;
    step.failure = std::move(status);
    partial_runs_.fail(step.ordinal, step.failure);
    if (step.pending != 0) abort(step);
  }

  /// Sends AbortStep to every worker of the step. If some are in other processes, sets a timer to repeat it.
  void abort(MasterStep& step) {
    Draft<wire::AbortStep> draft;
    set_step(draft->initStep(), session_, step.ordinal);
    draft->setPartition(step.prepared->handle);
    write(step.failure, draft->initReason());
    const auto message = draft.finish();
    for (const auto& share : step.prepared->shares) tell(share.worker, message);
    if (step.prepared->remote)
      step.again = call_in<wire::AbortAgain>(limits::patient_heartbeats * node_.heartbeat, step.ordinal);
  }

  void confirm(wire::ConfirmStep::Reader request, Reply reply) {
    const auto at = steps_.find(request.getStep().getOrdinal());
    if (request.getStep().getSession() == session_ && at != steps_.end() &&
        at->second.prepared->handle == request.getPartition())
      return reply(Draft<wire::StepConfirmed>().finish());
    node_.strays.fetch_add(1, std::memory_order_relaxed);
    reply(not_found("the master does not run step " + std::to_string(request.getStep().getOrdinal()) +
                    " of partition " + std::to_string(request.getPartition())));
  }

  void broken(const Message<wire::PartitionBroken>& message) {
    const Status reason = read(message->getReason());
    for (auto& [ordinal, step] : steps_)
      if (step.prepared->handle == message->getPartition()) fail(step, reason);
  }

  /// Ends the use of a prepared signature. If a session asks for the same signature again, it is prepared anew.
  void retire(PreparedSignature& prepared) {
    if (std::exchange(prepared.retired, true)) return;
    if (const auto at = handles_.find(prepared.key); at != handles_.end() && at->second == prepared.handle)
      handles_.erase(at);
  }

  void take_times(const MasterStep& step) {
    if (step.measured.nodes)
      for (const auto& part : step.times.parts()) trials_.take(part);
    if (trials_.ended(step.prepared->key, step.measured, node_.env.clock.now() - step.begun))
      retire(*step.prepared);
  }

  void end(std::map<uint64_t, MasterStep>::iterator at) {
    MasterStep step = std::move(at->second);
    steps_.erase(at);
    step.prepared->running.erase(step.ordinal);
    if (step.measured.any() && step.failure.ok()) take_times(step);
    forget_if_over(step.prepared);
    cancel_timers(step);
    partial_runs_.step_ended(step.ordinal);
    if (step.failure.ok())
      for (size_t i = 0; i < step.fetches.size() && step.failure.ok(); ++i)
        if (!step.fetches[i].valid())
          step.failure = internal("no worker returned a tensor for fetch " + std::to_string(i));
    if (!step.failure.ok()) {
      step.reply(std::move(step.failure));
    } else {
      Draft<wire::StepDone> draft;
      set_step(draft->initStep(), session_, step.ordinal);
      if (step.profiled) step.times.write(*draft);
      step.reply(draft.finish(std::move(step.fetches)));
    }
    if (closing_ && steps_.empty()) closed();
  }

  void cancel(uint64_t call) {
    for (auto& [ordinal, step] : steps_)
      if (step.call == call) return fail(step, cancelled_by_caller());
    cancelled_early_.insert(call);
    if (cancelled_early_.size() > max_cancelled_early) cancelled_early_.erase(cancelled_early_.begin());
  }

  static Status cancelled_by_caller() { return cancelled("the step was cancelled by its caller"); }

  void expire(uint64_t ordinal) {
    const auto at = steps_.find(ordinal);
    if (at == steps_.end()) return;
    fail(at->second, deadline_exceeded("the step did not end by its deadline"));
    at->second.reply(at->second.failure);
  }

  void close(Reply reply) {
    closing_ = true;
    closers_.push_back(std::move(reply));
    end_all(cancelled("the session was closed"));
    if (steps_.empty()) closed();
  }

  /// Ends all steps, and refuses everything from now on.
  void end_all(const Status& reason) {
    refusal_ = reason;
    for (auto& [ordinal, step] : steps_) fail(step, reason);
    partial_runs_.fail_all(reason);
  }

  void closed() {
    for (auto& reply : closers_) reply(Draft<wire::SessionClosed>().finish());
    stop();
  }

  const Address address_;
  const uint64_t session_;
  const std::vector<WorkerDevices> workers_;
  const SessionOptions options_;
  const ActorRef client_;  ///< see spawn_master()
  std::shared_ptr<const Graph> graph_;
  /// See compile_step(). Used by one compilation at a time.
  const std::shared_ptr<std::vector<DeviceId>> homes_ = std::make_shared<std::vector<DeviceId>>();
  std::deque<ToCompile> to_compile_;  ///< the first one is being compiled
  uint64_t version_ = 0;
  std::map<uint64_t, std::shared_ptr<PreparedSignature>> signatures_;  ///< by handle
  std::unordered_map<std::string, uint64_t> handles_;                  ///< by key
  std::map<uint64_t, MasterStep> steps_;                               ///< the running steps, by ordinal
  PlacementTrials trials_;
  PartialRuns partial_runs_;
  EarlierRuns runs_;  ///< in how many steps so far each random node with its own seeds took part
  uint64_t last_handle_ = 0, last_ordinal_ = 0;
  /// The newest calls whose CancelStep came when they did not run: they are over, or their RunStep is still to come.
  std::set<uint64_t> cancelled_early_;
  Status refusal_;  ///< not Ok once the session has ended: the answer to every request
  bool closing_ = false;
  std::vector<Reply> closers_;
};

}  // namespace

ActorRef spawn_master(ActorNode& node, const Address& address, uint64_t session,
                      std::vector<WorkerDevices> workers, SessionOptions options, ActorRef client) {
  auto master = node.engine.spawn(std::make_unique<MasterRole>(node, address, session, std::move(workers),
                                                               std::move(options), std::move(client)));
  node.directory.add(address, master);
  return master;
}

}  // namespace troupe

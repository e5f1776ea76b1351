#include "actors/engine/engine.h"

#include <array>
#include <atomic>
#include <caf/all.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <mutex>

#include "actors/engine/gather.h"

namespace troupe {

/// An entry of a mailbox. It contains the Reply of a request, so that a request is answered even if its envelope is thrown away.
struct Envelope {
  AnyMessage message;
  Reply reply;
  uint64_t answers = 0;  ///< the number of the request that this answers; 0: this is not an answer
  Status failure;        ///< not Ok if this answers a request with a failure

  Envelope() = default;
  Envelope(AnyMessage m, Reply r) : message(std::move(m)), reply(std::move(r)) {}
  Envelope(Envelope&&) = default;
  Envelope& operator=(Envelope&&) = default;
  // CAF requires that contents of messages can be copied, but does not copy those delivered to a single actor. A copy has no reply.
  Envelope(const Envelope& other) : message(other.message), answers(other.answers), failure(other.failure) {}
};

}  // namespace troupe

namespace caf {
template <>
struct allowed_unsafe_message_type<troupe::Envelope> : std::true_type {};
}  // namespace caf

namespace troupe {
namespace {

caf::strong_actor_ptr actor_of(const ActorRef& ref) {
  return caf::strong_actor_ptr(static_cast<caf::actor_control_block*>(ref.control()));
}

ActorRef ref_of(caf::strong_actor_ptr actor) { return ActorRef::adopt(actor.release()); }

void resume(void* what);

/// Gives ready actors to our scheduler instead of CAF's.
class CafUnit final : public caf::execution_unit {
 public:
  CafUnit(caf::actor_system* system, Scheduler& scheduler)
      : caf::execution_unit(system), scheduler_(scheduler) {}
  void exec_later(caf::resumable* job) override {
    ready_.fetch_add(1, std::memory_order_relaxed);
    run_actor_soon(scheduler_, {resume, job});
  }

  // `ready_` counts the actors that are ready or running. The system must not be destroyed before it is 0, even if all of our
  // actors have ended.
  void ran() {
    Scheduler& scheduler = scheduler_;
    const bool ending = ending_.load(std::memory_order_relaxed);
    ready_.fetch_sub(1, std::memory_order_release);  // after this the unit may have been destroyed
    if (ending) scheduler.wake();
  }
  void end() { ending_.store(true); }
  bool idle() const { return ready_.load(std::memory_order_acquire) == 0; }
  Scheduler& scheduler() const { return scheduler_; }

 private:
  Scheduler& scheduler_;
  std::atomic<int> ready_{0};
  std::atomic<bool> ending_{false};
};

/// A clock that ignores all timeouts: none is set through CAF, because deadlines are timers of the environment.
class NoClock final : public caf::actor_clock {
 public:
  void set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value, uint64_t) override {}
  void set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value, uint64_t) override {}
  void set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) override {}
  void cancel_ordinary_timeout(caf::abstract_actor*, caf::atom_value) override {}
  void cancel_request_timeout(caf::abstract_actor*, caf::message_id) override {}
  void cancel_timeouts(caf::abstract_actor*) override {}
  void schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) override {}
  void schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) override {}
  void cancel_all() override {}
};

class Coordinator final : public caf::scheduler::abstract_coordinator {
 public:
  Coordinator(caf::actor_system& system, Scheduler& scheduler_of_node)
      : abstract_coordinator(system), unit_(&system, scheduler_of_node) {}
  void enqueue(caf::resumable* job) override { unit_.exec_later(job); }
  caf::actor_clock& clock() noexcept override { return clock_; }
  bool detaches_utility_actors() const override { return false; }
  CafUnit& unit() { return unit_; }

 protected:
  void start() override {}  // CAF's printer is not used, so it is not started
  // Before it calls this, the system has told its own two servers to end.
  void stop() override {
    unit_.end();
    unit_.scheduler().wait([this] { return unit_.idle(); }, 0);
  }

 private:
  CafUnit unit_;
  NoClock clock_;
};

struct Config final : caf::actor_system_config {
  explicit Config(Scheduler& scheduler) {
    module_factories.push_back([&scheduler](caf::actor_system& system) -> caf::actor_system::module* {
      return new Coordinator(system, scheduler);
    });
  }
};

/// Returns the execution unit of an engine's actor system.
CafUnit& unit_of(caf::actor_system& system) { return static_cast<Coordinator&>(system.scheduler()).unit(); }

/// After this many messages an actor lets the other jobs of its thread run.
constexpr size_t max_messages_in_turn = 256;

void resume(void* what) {
  auto* job = static_cast<caf::resumable*>(what);
  // Every resumable of our systems is a scheduled actor: CAF's own two servers and RoleActor.
  CafUnit& unit = unit_of(static_cast<caf::scheduled_actor*>(job)->home_system());
  switch (job->resume(&unit, max_messages_in_turn)) {
    case caf::resumable::resume_later: unit.exec_later(job); break;
    default: caf::intrusive_ptr_release(job);
  }
  unit.ran();
}

// Inside CAF, a Status is the reason of an exit: an error of this category, with the status's code, and its text as the context.
const caf::atom_value category = caf::atom("troupe");

caf::error to_error(const Status& status) {
  if (status.ok()) return caf::exit_reason::normal;
  return {static_cast<uint8_t>(status.code()), category, caf::make_message(status.message())};
}

Status to_status(const caf::error& error) {
  if (!error || error == caf::exit_reason::user_shutdown) return {};
  if (error.category() != category) return unavailable("the actor has ended");
  return {static_cast<Code>(error.code()), error.context().get_as<std::string>(0)};
}

}  // namespace

class RoleActor final : public caf::event_based_actor {
 public:
  RoleActor(caf::actor_config& config, Engine* engine, std::unique_ptr<Role>* role);
  ~RoleActor() override = default;

  caf::behavior make_behavior() override {
    role_->started();
    return {[this](Envelope& envelope) { receive(envelope); }};
  }

  void on_exit() override;

  void watch(const ActorRef& other, std::function<void(Status)> down) {
    const auto actor = actor_of(other);
    watches_.emplace(actor->id(), std::move(down));
    monitor(caf::actor_cast<caf::actor_addr>(actor));
  }

 private:
  // After an exception the role's state is unknown, so the actor ends. Its watchers receive the exception's text.
  void receive(Envelope& envelope) {
    try {
      role_->handle(envelope);
    } catch (const std::exception& exception) {
      quit(to_error(internal(std::string("a message handler threw an exception: ") + exception.what())));
    }
  }

  void on_down(caf::down_msg& down) {
    const auto [begin, end] = watches_.equal_range(down.source.id());
    std::vector<std::function<void(Status)>> called;
    for (auto at = begin; at != end; ++at) called.push_back(std::move(at->second));
    watches_.erase(begin, end);
    for (auto& function : called) function(to_status(down.reason));
  }

  std::unique_ptr<Role> role_;
  std::multimap<caf::actor_id, std::function<void(Status)>> watches_;
};

namespace {

class StubActor final : public caf::actor_proxy {
 public:
  StubActor(caf::actor_config& config, std::function<void(const AnyMessage&, Reply)> deliver)
      : caf::actor_proxy(config), deliver_(std::move(deliver)) {}

  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override {
    if (!element || ended_.load(std::memory_order_acquire)) return;
    auto& content = element->content();
    if (content.match_elements<Envelope>()) {
      auto& envelope = content.get_mutable_as<Envelope>(0);
      deliver_(envelope.message, std::move(envelope.reply));
    }
  }
  void kill_proxy(caf::execution_unit* unit, caf::error reason) override {
    ended_.store(true, std::memory_order_release);
    cleanup(std::move(reason), unit);
  }

 private:
  std::function<void(const AnyMessage&, Reply)> deliver_;
  std::atomic<bool> ended_{false};
};

}  // namespace

namespace {

/// Counts messages by type without a lock: a hash table with open addressing, larger than the number of message types.
class Counters {
 public:
  void count(const AnyMessage& message) {
    const uint64_t id = message.schema_id();
    for (size_t i = id % slots_.size();; i = (i + 1) % slots_.size()) {
      Slot& slot = slots_[i];
      uint64_t owner = slot.id.load(std::memory_order_relaxed);
      if (owner == 0 && slot.id.compare_exchange_strong(owner, id, std::memory_order_relaxed)) owner = id;
      if (owner != id) continue;
      slot.messages.fetch_add(1, std::memory_order_relaxed);
      slot.bytes.fetch_add(message.bytes(), std::memory_order_relaxed);
      return;
    }
  }
  std::map<uint64_t, MessageCount> read() const {
    std::map<uint64_t, MessageCount> result;
    for (const Slot& slot : slots_)
      if (const uint64_t id = slot.id.load(std::memory_order_relaxed); id != 0)
        result[id] = {slot.messages.load(std::memory_order_relaxed),
                      slot.bytes.load(std::memory_order_relaxed)};
    return result;
  }

 private:
  struct Slot {
    std::atomic<uint64_t> id{0}, messages{0}, bytes{0};
  };
  std::array<Slot, 509> slots_;
};

}  // namespace

struct Engine::Impl {
  explicit Impl(Scheduler& scheduler) : config(scheduler), system(config) {}

  void put(const ActorRef& to, Envelope envelope) {
    if (envelope.message) counters.count(envelope.message);
    auto* actor = static_cast<caf::actor_control_block*>(to.control())->get();
    actor->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(envelope)),
                   &unit_of(system));
  }

  Config config;
  caf::actor_system system;
  Counters counters;
  mutable std::mutex mutex;
  std::unordered_map<caf::actor_id, caf::weak_actor_ptr> alive;
  bool ending = false;
};

RoleActor::RoleActor(caf::actor_config& config, Engine* engine, std::unique_ptr<Role>* role)
    : caf::event_based_actor(config), role_(std::move(*role)) {
  role_->engine_ = engine;
  role_->actor_ = this;
  set_down_handler([this](caf::down_msg& down) { on_down(down); });
  set_default_handler([](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> {
    return caf::sec::unexpected_message;
  });
  std::lock_guard lock(engine->impl_->mutex);
  engine->impl_->alive.emplace(id(), caf::weak_actor_ptr(ctrl()));
}

void RoleActor::on_exit() {
  role_->stopping();
  Engine::Impl& engine = *role_->engine_->impl_;
  Scheduler& scheduler = role_->engine_->scheduler_;
  role_.reset();  // breaks cycles: a role may hold references to actors that hold this one
  watches_.clear();
  {
    std::lock_guard lock(engine.mutex);
    engine.alive.erase(id());
  }
  scheduler.wake();
}

ActorRef::ActorRef(const ActorRef& other) : control_(other.control_) {
  if (control_) caf::intrusive_ptr_add_ref(static_cast<caf::actor_control_block*>(control_));
}

ActorRef::~ActorRef() {
  if (control_) caf::intrusive_ptr_release(static_cast<caf::actor_control_block*>(control_));
}

Reply& Reply::operator=(Reply&& other) noexcept {
  if (this != &other) {
    if (expected()) abandon();
    engine_ = std::exchange(other.engine_, nullptr);
    requester_ = std::move(other.requester_);
    id_ = other.id_;
    callback_ = std::exchange(other.callback_, nullptr);
  }
  return *this;
}

void Reply::deliver(Result<AnyMessage> answer) {
  if (const auto callback = std::exchange(callback_, nullptr)) {
    callback(std::move(answer));
  } else if (Engine* engine = std::exchange(engine_, nullptr)) {
    Envelope envelope;
    envelope.answers = id_;
    if (answer)
      envelope.message = std::move(*answer);
    else
      envelope.failure = answer.status();
    engine->impl_->put(requester_, std::move(envelope));
  }
}

void Reply::abandon() { deliver(unavailable("the request was not answered: its receiver has ended")); }

void Role::handle(Envelope& envelope) {
  if (envelope.answers != 0) {
    const auto pending = asks_.find(envelope.answers);
    if (pending == asks_.end()) return;
    const Answer then = std::move(pending->second);
    asks_.erase(pending);
    if (envelope.failure.ok())
      then(std::move(envelope.message));
    else
      then(std::move(envelope.failure));
    return;
  }
  const auto handler = handlers_.find(envelope.message.schema_id());
  if (handler == handlers_.end()) {
    envelope.reply(unimplemented("the receiving actor has no handler for messages of this type"));
    return;
  }
  handler->second(envelope.message, std::move(envelope.reply));
}

ActorRef Role::self() const {
  return ref_of(caf::actor_cast<caf::strong_actor_ptr>(static_cast<RoleActor*>(actor_)));
}

void Role::tell(const ActorRef& to, AnyMessage message) const { engine_->send(to, std::move(message)); }

void Role::ask(const ActorRef& to, AnyMessage message, Answer then) {
  engine_->send(to, std::move(message), expect(std::move(then)));
}

Reply Role::expect(Answer then) {
  const uint64_t id = ++last_ask_;
  asks_.emplace(id, std::move(then));
  return {*engine_, self(), id};
}

void Role::ask_all(std::vector<AddressedRequest> requests, AllAnswered then, RequestFailed failed) {
  auto callbacks = gather(requests.size(), std::move(then), std::move(failed));
  for (size_t i = 0; i < requests.size(); ++i)
    ask(requests[i].to, std::move(requests[i].message), std::move(callbacks[i]));
}

void Role::forward(const ActorRef& to, AnyMessage message, Reply reply) const {
  engine_->send(to, std::move(message), std::move(reply));
}

void Role::watch(const ActorRef& other, std::function<void(Status)> down) {
  static_cast<RoleActor*>(actor_)->watch(other, std::move(down));
}

void Role::stop(const Status& reason) { static_cast<RoleActor*>(actor_)->quit(to_error(reason)); }

Engine::Engine(Scheduler& scheduler) : scheduler_(scheduler), impl_(std::make_unique<Impl>(scheduler)) {}

Engine::~Engine() { end(); }

void Engine::end() {
  std::vector<ActorRef> alive;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->ending = true;
    for (auto& [id, weak] : impl_->alive)
      if (auto actor = weak.lock()) alive.push_back(ref_of(std::move(actor)));
  }
  CafUnit& unit = unit_of(impl_->system);
  unit.end();
  for (const auto& actor : std::exchange(alive, {})) stop(actor);
  scheduler_.wait([&] { return actors() == 0 && unit.idle(); }, 0);
}

namespace {

// Spawning stores a reference to CAF's logger in a thread-local variable. The actor system waits for its logger before it ends, but
// the threads of the pool outlive the system; so the reference is removed.
struct ForgetLogger {
  ~ForgetLogger() { caf::logger::set_current_actor_system(nullptr); }
};

}  // namespace

ActorRef Engine::spawn(std::unique_ptr<Role> role) {
  const ForgetLogger forget;
  ActorRef actor = ref_of(
      caf::actor_cast<caf::strong_actor_ptr>(impl_->system.spawn<RoleActor, caf::hidden>(this, &role)));
  bool ending = false;
  {
    std::lock_guard lock(impl_->mutex);
    ending = impl_->ending;
  }
  if (ending) stop(actor);  // end() may have missed this actor
  return actor;
}

ActorRef Engine::spawn_stub(std::function<void(const AnyMessage&, Reply)> deliver) {
  const ForgetLogger forget;
  caf::actor_config config;
  auto& system = impl_->system;
  return ref_of(caf::actor_cast<caf::strong_actor_ptr>(caf::make_actor<StubActor, caf::actor>(
      system.next_actor_id(), system.node(), &system, config, std::move(deliver))));
}

void Engine::end_stub(const ActorRef& stub, const Status& reason) {
  auto* actor = static_cast<caf::actor_control_block*>(stub.control())->get();
  static_cast<StubActor*>(actor)->kill_proxy(&unit_of(impl_->system), to_error(reason));
}

void Engine::send(const ActorRef& to, AnyMessage message, Reply reply) {
  impl_->put(to, Envelope(std::move(message), std::move(reply)));
}

Result<AnyMessage> Engine::call(const ActorRef& to, AnyMessage message, int64_t deadline) {
  struct Shared {
    std::atomic<bool> done{false};
    Result<AnyMessage> answer{internal("the answer has not arrived")};
  };
  auto shared = std::make_shared<Shared>();
  {
    Unit unit(scheduler_);
    send(to, std::move(message), Reply([shared, this](Result<AnyMessage> answer) {
           shared->answer = std::move(answer);
           shared->done.store(true, std::memory_order_release);
           scheduler_.wake();
         }));
    if (!scheduler_.wait([&] { return shared->done.load(std::memory_order_acquire); }, deadline))
      return deadline_exceeded("the deadline passed before the answer arrived");
  }
  return std::move(shared->answer);
}

Answers Engine::call_all(std::vector<AddressedRequest> requests, RequestFailed failed) {
  struct Waiting {
    Answers answers;
    std::atomic<bool> done{false};
  };
  // Shared with the callbacks, because a wait of a simulated host that crashes ends before they are called.
  const auto waiting = std::make_shared<Waiting>();
  waiting->answers.assign(requests.size(), unavailable("this process ends"));
  const auto then = [waiting, &scheduler = scheduler_](Answers answers) {
    waiting->answers = std::move(answers);
    waiting->done.store(true, std::memory_order_release);
    scheduler.wake();
  };
  Unit unit(scheduler_);
  auto callbacks = gather(requests.size(), then, std::move(failed));
  for (size_t i = 0; i < requests.size(); ++i)
    send(requests[i].to, std::move(requests[i].message), Reply(std::move(callbacks[i])));
  scheduler_.wait([&] { return waiting->done.load(std::memory_order_acquire); }, 0);
  return std::move(waiting->answers);
}

void Engine::watch(const ActorRef& actor, std::function<void(Status)> down) {
  actor_of(actor)->get()->attach_functor(
      [down = std::move(down)](const caf::error& reason) { down(to_status(reason)); });
}

void Engine::stop(const ActorRef& actor, const Status& reason) {
  const auto target = caf::actor_cast<caf::actor>(actor_of(actor));
  caf::error why = reason.ok() ? caf::error(caf::exit_reason::user_shutdown) : to_error(reason);
  caf::anon_send(target, caf::exit_msg{target.address(), std::move(why)});
}

size_t Engine::actors() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->alive.size();
}

std::map<uint64_t, MessageCount> Engine::counts() const { return impl_->counters.read(); }

}  // namespace troupe

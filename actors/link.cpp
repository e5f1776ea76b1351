#include "actors/link.h"

#include <algorithm>

#include "actors/peer_messages.h"
#include "messages/link.capnp.h"
#include "messages/wire.h"

namespace troupe {
namespace {

constexpr uint32_t protocol = 1;

AnyMessage hello_of(const NodeIdentity& self, uint64_t ops) {
  Draft<wire::Hello> draft;
  draft->setProtocol(protocol);
  draft->setOps(ops);
  draft->setCluster(as_text(self.cluster));
  draft->setTask(as_text(self.task));
  draft->setIncarnation(self.incarnation);
  return draft.finish();
}

template <class T>
AnyMessage message_with_reason(const Status& reason) {
  Draft<T> draft;
  write(reason, draft->initReason());
  return draft.finish();
}

AnyMessage bind_message(uint64_t number, const Address& address) {
  Draft<wire::Bind> draft;
  draft->setNumber(number);
  write(address, draft->initActor());
  return draft.finish();
}

AnyMessage failure(const Status& status) {
  Draft<wire::Status> draft;
  write(status, *draft);
  return draft.finish();
}

/// Why two nodes cannot work together, naming both sides.
Status check_hello(wire::Hello::Reader hello, const NodeIdentity& self, uint64_t ops) {
  const std::string task(view(hello.getTask())), cluster(view(hello.getCluster()));
  const auto differs = [&](const std::string& what, const std::string& theirs, const std::string& ours) {
    return failed_precondition(task + " has " + what + " " + theirs + ", " + self.task + " has " + ours);
  };
  if (hello.getProtocol() != protocol)
    return differs("link protocol", std::to_string(hello.getProtocol()), std::to_string(protocol));
  if (cluster != self.cluster) return differs("cluster id", cluster, self.cluster);
  if (hello.getOps() != ops) return differs("op table", std::to_string(hello.getOps()), std::to_string(ops));
  return {};
}

}  // namespace

Link::Link(ActorNode& node, Owner& owner, NodeIdentity self, const LinkOptions& options)
    : node_(node), owner_(owner), self_(std::move(self)), options_(options) {}

void Link::open(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  opened_ = heard_ = node_.env.clock.now();
  connection_->start(*this, heap_allocator(), FrameLimits::before_hello());
  send_control(hello_of(self_, node_.library->ops->signature_hash()));
  start_timer();
}

void Link::close(const Status& reason) {
  if (over_) return;
  if (connection_) send_control(message_with_reason<wire::Goodbye>(reason));
  closed(reason);
}

void Link::closed(Status reason) {
  if (std::exchange(over_, true)) return;
  const auto self = shared_from_this();
  if (reason.ok()) reason = unavailable("the peer closed the connection");
  node_.env.clock.cancel(timer_);
  connection_.reset();
  abandon_all(reason);
  owner_.closed(*this, reason);
}

void Link::abandon_all(const Status& reason) {
  std::map<uint64_t, Address> addresses;
  std::unordered_map<Address, ActorRef> stubs;
  std::vector<Outgoing> outgoing;
  {
    const std::lock_guard lock(mutex_);
    closed_ = reason;
    addresses.swap(addresses_);
    stubs.swap(stubs_);
    outgoing.swap(outgoing_);
  }
  for (const auto& [number, address] : addresses) node_.engine.end_stub(stubs.at(address), reason);
  exports_.clear();
  for (auto& [sequence, reply] : std::exchange(pending_, {})) reply(reason);
  for (auto& item : outgoing) item.reply(reason);
}

// Timers.

void Link::start_timer() {
  timer_ = node_.env.clock.call_at(node_.env.clock.now() + options_.heartbeat, [weak = weak_from_this()] {
    if (const auto link = weak.lock()) link->tick();
  });
}

void Link::tick() {
  if (over_) return;
  const int64_t now = node_.env.clock.now();
  if (!peer_ && now - opened_ >= options_.hello) return close(unavailable("the peer did not say who it is"));
  if (peer_ && now - heard_ >= options_.silence)
    return closed(unavailable(peer_->task + " has been silent for " +
                              std::to_string((now - heard_) / 1'000'000) + " ms"));
  if (std::exchange(quiet_, true) && peer_) send_control(Draft<wire::Heartbeat>().finish());
  start_timer();
}

// What goes out.

ActorRef Link::actor(const Address& address) {
  std::optional<Status> gone;
  ActorRef stub;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = stubs_.find(address); known != stubs_.end()) return known->second;
    const uint64_t number = ++last_number_;
    stub =
        node_.engine.spawn_stub([link = shared_from_this(), number](const AnyMessage& message, Reply reply) {
          Outgoing outgoing;
          outgoing.header.receiver = number;
          outgoing.message = message;
          outgoing.reply = std::move(reply);
          link->post(std::move(outgoing));
        });
    gone = closed_;
    if (!gone) {
      stubs_.emplace(address, stub);
      addresses_.emplace(number, address);
      // Before the lock is released, so that no message to the actor overtakes it.
      outgoing_.push_back({{}, bind_message(number, address), {}});
    }
  }
  if (gone)
    node_.engine.end_stub(stub, *gone);
  else
    flush_soon();
  return stub;
}

void Link::post(Outgoing outgoing) {
  std::optional<Status> gone;
  {
    const std::lock_guard lock(mutex_);
    gone = closed_;
    if (!gone) outgoing_.push_back(std::move(outgoing));
  }
  if (gone)
    outgoing.reply(*gone);
  else
    flush_soon();
}

void Link::flush_soon() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(flushing_, true)) return;
  }
  node_.scheduler.enqueue(make_job([self = shared_from_this()] { self->flush(); }));
}

void Link::flush() {
  std::vector<Outgoing> outgoing;
  {
    const std::lock_guard lock(mutex_);
    flushing_ = false;
    outgoing.swap(outgoing_);
  }
  for (auto& item : outgoing) send(std::move(item));
}

void Link::send_control(AnyMessage message) {
  Outgoing outgoing;
  outgoing.message = std::move(message);
  send(std::move(outgoing));
}

void Link::send(Outgoing outgoing) {
  if (over_) return outgoing.reply(*closed_);
  FrameHeader& header = outgoing.header;
  header.sequence = sent_ + 1;
  header.incarnation = self_.incarnation;
  header.request = outgoing.reply.expected();
  auto frame = encode(header, std::move(outgoing.message));
  if (!frame) {
    const Status& status = frame.status();
    if (header.request) return outgoing.reply(status);
    if (header.answers == 0) return close(status);
    frame = encode(header, failure(status));
  }
  ++sent_;
  quiet_ = false;
  if (header.request) pending_.emplace(header.sequence, std::move(outgoing.reply));
  connection_->send(std::move(*frame));
}

void Link::actor_ended(const ActorRef& actor, const Status& reason) {
  std::vector<uint64_t> numbers;
  for (const auto& [number, exported] : exports_)
    if (exported == actor) numbers.push_back(number);
  for (const uint64_t number : numbers) {
    exports_.erase(number);
    send_down(number, reason);
  }
}

// By way of the queue: behind whatever that actor has answered.
void Link::send_down(uint64_t number, const Status& reason) {
  Draft<wire::Down> draft;
  draft->setNumber(number);
  write(reason, draft->initReason());
  Outgoing outgoing;
  outgoing.message = draft.finish();
  post(std::move(outgoing));
}

// What comes in.

void Link::received(Frame frame) {
  if (over_) return;
  heard_ = node_.env.clock.now();
  if (frame.header.sequence <= received_) {
    ++dropped_;
    return;
  }
  const auto self = shared_from_this();
  Status status = frame.header.sequence != received_ + 1
                      ? data_loss("frames are missing before number " + std::to_string(frame.header.sequence))
                      : take(std::move(frame));
  ++received_;
  if (!status.ok()) close(status);
}

Status Link::take(Frame frame) {
  if (!peer_) return greet(std::move(frame));
  if (frame.header.incarnation != peer_->incarnation)
    return failed_precondition("a frame of another incarnation of " + peer_->task);
  if (frame.header.answers != 0) {
    answered(std::move(frame));
    return {};
  }
  return frame.header.receiver == 0 ? control(std::move(frame)) : deliver(std::move(frame));
}

Status Link::greet(Frame frame) {
  const FrameHeader header = frame.header;
  TROUPE_ASSIGN(const AnyMessage message, receive_from_peer(std::move(frame)));
  if (message.schema_id() == schema_id_of<wire::Goodbye>)
    return read(Message<wire::Goodbye>(message)->getReason());
  if (message.schema_id() != schema_id_of<wire::Hello>)
    return invalid_argument("the peer spoke before it said who it is");
  const Message<wire::Hello> hello(message);
  TROUPE_RETURN_IF_FAILED(check_hello(*hello, self_, node_.library->ops->signature_hash()));
  if (hello->getIncarnation() != header.incarnation)
    return invalid_argument("the peer names two incarnations");
  peer_ = NodeIdentity{std::string(view(hello->getCluster())), std::string(view(hello->getTask())),
                       hello->getIncarnation()};
  connection_->set_limits(options_.frames);
  return owner_.greeted(*this);
}

Status Link::control(Frame frame) {
  TROUPE_ASSIGN(const AnyMessage message, receive_from_peer(std::move(frame)));
  if (message.schema_id() == schema_id_of<wire::Heartbeat>) return {};
  if (message.schema_id() == schema_id_of<wire::Bind>) {
    const Message<wire::Bind> binding(message);
    return bind(binding->getNumber(), read(binding->getActor()));
  }
  if (message.schema_id() == schema_id_of<wire::Down>) {
    const Message<wire::Down> down(message);
    stub_ended(down->getNumber(), read(down->getReason()));
    return {};
  }
  if (message.schema_id() == schema_id_of<wire::Goodbye>) {
    closed(read(Message<wire::Goodbye>(message)->getReason()));
    return {};
  }
  return invalid_argument("the peer told the link what is meant for actors");
}

Status Link::bind(uint64_t number, const Address& address) {
  if (exports_.size() >= options_.actors)
    return resource_exhausted("the peer addresses more actors than LinkOptions::actors, " +
                              std::to_string(options_.actors));
  const auto actor = node_.directory.find_here(address);
  if (!actor) {
    send_down(number, actor.status());
    return {};
  }
  if (!exports_.emplace(number, *actor).second)
    return invalid_argument("the peer bound number " + std::to_string(number) + " twice");
  owner_.watch(*actor);
  return {};
}

void Link::stub_ended(uint64_t number, const Status& reason) {
  ActorRef actor;
  {
    const std::lock_guard lock(mutex_);
    const auto address = addresses_.find(number);
    if (address == addresses_.end()) return;
    const auto stub = stubs_.find(address->second);
    actor = stub->second;
    stubs_.erase(stub);
    addresses_.erase(address);
  }
  node_.engine.end_stub(actor, reason.ok() ? unavailable("the actor has ended") : reason);
}

void Link::answered(Frame frame) {
  const auto at = pending_.find(frame.header.answers);
  if (at == pending_.end()) {
    ++dropped_;
    return;
  }
  Reply reply = std::move(at->second);
  pending_.erase(at);
  auto message = receive_from_peer(std::move(frame));
  if (!message || message->schema_id() != schema_id_of<wire::Status>) return reply(std::move(message));
  Status status = read(*Message<wire::Status>(*message));
  reply(status.ok() ? internal("a request was answered by a status of Ok") : std::move(status));
}

Status Link::deliver(Frame frame) {
  const FrameHeader header = frame.header;
  Reply reply;
  if (header.request)
    reply = Reply([weak = weak_from_this(), sequence = header.sequence](Result<AnyMessage> answer) {
      const auto link = weak.lock();
      if (!link) return;
      Outgoing outgoing;
      outgoing.header.answers = sequence;
      outgoing.message = answer ? std::move(*answer) : failure(answer.status());
      link->post(std::move(outgoing));
    });
  TROUPE_ASSIGN(AnyMessage message, receive_from_peer(std::move(frame)));
  const auto actor = exports_.find(header.receiver);
  if (actor == exports_.end())
    ++dropped_;  // it has ended, and its Down is on the way; a request is answered as the reply goes
  else
    node_.engine.send(actor->second, std::move(message), std::move(reply));
  return {};
}

}  // namespace troupe

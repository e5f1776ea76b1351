#include "actors/link.h"

#include <algorithm>

#include "actors/peer_messages.h"
#include "messages/limits.h"
#include "messages/link.capnp.h"
#include "messages/wire.h"

namespace troupe {
namespace {

constexpr size_t most_by_control = 64 << 10;  // bytes of tensors in a frame

size_t attachment_bytes(const AnyMessage& message) {
  size_t total = 0;
  for (const Tensor& tensor : message.attachments()) total += tensor.bytes();
  return total;
}

AnyMessage failure(const Status& status) {
  Draft<wire::Status> draft;
  write(status, *draft);
  return draft.finish();
}

}  // namespace

std::shared_ptr<Link> Link::open(ActorNode& node, Owner& owner, const LinkOptions& options,
                                 std::unique_ptr<Channel> control) {
  std::shared_ptr<Link> link(new Link(node, owner, options, std::move(control)));
  link->start_timer();
  return link;
}

Link::Link(ActorNode& node, Owner& owner, const LinkOptions& options, std::unique_ptr<Channel> control)
    : node_(node), owner_(owner), options_(options), control_(std::move(control)), peer_(*control_->peer()) {
  control_->set_owner(*this);
}

void Link::adopt_bulk(std::unique_ptr<Channel> bulk) {
  bulk_ = std::move(bulk);
  bulk_->set_owner(*this);
  for (auto& outgoing : std::exchange(waiting_, {})) send(std::move(outgoing));
}

uint64_t Link::dropped() const { return nobodys_ + control_->repeated() + (bulk_ ? bulk_->repeated() : 0); }

// The end.

void Link::close(const Status& reason) {
  if (!over_) control_->close(reason);
}

void Link::closed(Channel& channel, const Status& reason) {
  if (std::exchange(over_, true)) return;
  const auto self = shared_from_this();
  node_.env.clock.cancel(timer_);
  if (Channel* other = &channel == control_.get() ? bulk_.get() : control_.get()) other->close(reason);
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
  for (auto& item : std::exchange(waiting_, {})) item.reply(reason);
  for (auto& item : outgoing) item.reply(reason);
}

// Timers.

void Link::start_timer() {
  timer_ =
      node_.env.clock.call_at(node_.env.clock.now() + control_->self().heartbeat, [weak = weak_from_this()] {
        if (const auto link = weak.lock()) link->tick();
      });
}

int64_t Link::silence() const {
  return node_.env.clock.now() - std::max(control_->heard(), bulk_ ? bulk_->heard() : 0);
}

int64_t Link::interval() const { return std::max(control_->self().heartbeat, peer_.heartbeat); }

bool Link::is_fresh() const { return silence() <= 2 * interval(); }

void Link::tick() {
  if (over_) return;
  if (silence() >= limits::silent_heartbeats * interval())
    return close(
        unavailable(peer_.task + " has been silent for " + std::to_string(silence() / 1'000'000) + " ms"));
  if (std::exchange(quiet_, true)) send_control(Draft<wire::Heartbeat>().finish());
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
    }
  }
  if (gone) node_.engine.end_stub(stub, *gone);
  return stub;
}

void Link::post(Outgoing outgoing) {
  std::unique_lock lock(mutex_);
  if (closed_) {
    const Status reason = *closed_;
    lock.unlock();
    return outgoing.reply(reason);
  }
  outgoing_.push_back(std::move(outgoing));
  if (std::exchange(flushing_, true)) return;
  lock.unlock();
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
  const bool bulk = attachment_bytes(outgoing.message) > most_by_control;
  if (bulk && !bulk_)
    waiting_.push_back(std::move(outgoing));
  else
    send_on(bulk ? *bulk_ : *control_, std::move(outgoing));
}

void Link::send_on(Channel& channel, Outgoing outgoing) {
  FrameHeader& header = outgoing.header;
  if (header.receiver != 0 && !bound(channel, header.receiver))
    return outgoing.reply(unavailable("the actor has ended"));
  header.request = outgoing.reply.expected();
  auto sent = channel.send(header, std::move(outgoing.message));
  if (!sent) {
    const Status status = sent.status();
    if (header.request) return outgoing.reply(status);
    if (header.answers == 0) return close(status);
    sent = control_->send(header, failure(status));
  }
  if (&channel == control_.get()) quiet_ = false;
  if (header.request) pending_.emplace(*sent, std::move(outgoing.reply));
}

bool Link::bound(Channel& channel, uint64_t number) {
  bool& told = bindings_[number][channel.name().bulk ? 1 : 0];
  if (told) return true;
  Draft<wire::Bind> draft;
  draft->setNumber(number);
  {
    const std::lock_guard lock(mutex_);
    const auto address = addresses_.find(number);
    if (address == addresses_.end()) return false;
    write(address->second, draft->initActor());
  }
  told = channel.send({}, draft.finish()).ok();
  return true;
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

Status Link::greeted(Channel&) { return internal("a channel was greeted twice"); }

Status Link::received(Channel&, Frame frame) {
  if (over_) return {};
  if (frame.header.answers != 0) {
    answered(std::move(frame));
    return {};
  }
  if (frame.header.receiver != 0) return deliver(std::move(frame));
  TROUPE_ASSIGN(const AnyMessage message, receive_from_peer(std::move(frame)));
  return control(message);
}

Status Link::control(const AnyMessage& message) {
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
    const Status reason = read(Message<wire::Goodbye>(message)->getReason());
    return reason.ok() ? unavailable(peer_.task + " has closed the link") : reason;
  }
  return invalid_argument("the peer told the link what is meant for actors");
}

Status Link::bind(uint64_t number, const Address& address) {
  if (exports_.contains(number)) return {};
  if (exports_.size() >= options_.actors)
    return resource_exhausted("the peer addresses more actors than LinkOptions::actors, " +
                              std::to_string(options_.actors));
  const auto actor = node_.directory.find_here(address);
  if (!actor) {
    send_down(number, actor.status());
    return {};
  }
  exports_.emplace(number, *actor);
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
  bindings_.erase(number);
  node_.engine.end_stub(actor, reason.ok() ? unavailable("the actor has ended") : reason);
}

void Link::answered(Frame frame) {
  const auto at = pending_.find(frame.header.answers);
  if (at == pending_.end()) {
    ++nobodys_;
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
    ++nobodys_;  // it has ended, and its Down is on the way; a request is answered as the reply goes
  else
    node_.engine.send(actor->second, std::move(message), std::move(reply));
  return {};
}

}  // namespace troupe

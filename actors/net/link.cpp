#include "actors/net/link.h"

#include <algorithm>

#include "actors/net/peer_messages.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/link.capnp.h"
#include "messages/wire/limits.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr size_t max_audited = 1000;  // requests per audit
constexpr int max_missed = 2;  // a request that the peer did not know in this many audits in a row is lost

/// Returns the message without its tensors, which the receiver has no memory for.
AnyMessage arrived_without(const Status& shortage, const AnyMessage& message) {
  const auto whole = *Message<wire::TensorsArrived>(message);
  Draft<wire::TensorsArrived> draft;
  draft->setStep(whole.getStep());
  draft->setArrivals(whole.getArrivals());
  write(shortage, draft->initShortage());
  return draft.finish();
}

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
  all_by_bulk_ = control_->offer().has_value();
}

void Link::adopt_bulk(std::unique_ptr<Channel> bulk) {
  bulk_ = std::move(bulk);
  bulk_->set_owner(*this);
  all_by_bulk_ = bulk_->is_offered();
  for (auto& outgoing : std::exchange(waiting_, {})) send(std::move(outgoing));
}

uint64_t Link::dropped() const {
  return undeliverable_ + control_->repeated() + (bulk_ ? bulk_->repeated() : 0);
}

// The end.

void Link::close(const Status& reason, bool node_ends) {
  if (ended_) return;
  node_ends_ = node_ends;
  control_->close(reason, node_ends);
}

void Link::closed(Channel& channel, const Status& reason) {
  if (std::exchange(ended_, true)) return;
  const auto self = shared_from_this();
  node_.env.clock.cancel(timer_);
  node_.gpu_borrowers.set(peer_.task, false);
  if (Channel* other = &channel == control_.get() ? bulk_.get() : control_.get())
    other->close(reason, node_ends_);
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
  for (auto& [sequence, pending] : std::exchange(pending_, {})) pending.reply(reason);
  for (auto& item : std::exchange(waiting_, {})) item.reply(reason);
  for (auto& item : outgoing) item.reply(reason);
}

// Timers.

void Link::start_timer() {
  next_tick_ = node_.env.clock.now() + control_->self().heartbeat;
  timer_ = node_.env.clock.call_at(next_tick_, [weak = weak_from_this()] {
    if (const auto link = weak.lock()) link->tick();
  });
}

int64_t Link::silence() const {
  return node_.env.clock.now() -
         std::max({control_->last_received(), bulk_ ? bulk_->last_received() : 0, resumed_});
}

int64_t Link::interval() const { return std::max(control_->self().heartbeat, peer_.heartbeat); }

bool Link::is_responsive() const { return silence() <= 2 * interval(); }

Status Link::check_peer_lives() {
  if (silence() >= limits::silent_heartbeats * interval())
    return unavailable(peer_.task + " has been silent for " + std::to_string(silence() / 1'000'000) + " ms");
  for (Channel* const channel : {control_.get(), bulk_.get()}) {
    if (!channel) continue;
    const int64_t unread = std::min(channel->unread_for(), node_.env.clock.now() - resumed_);
    if (unread >= limits::unread_heartbeats * interval())
      return unavailable(peer_.task + " has read nothing for " + std::to_string(unread / 1'000'000) +
                         " ms, and " + std::to_string(channel->unsent()) + " bytes wait for it");
  }
  return {};
}

void Link::tick() {
  if (ended_) return;
  // A process that did not run for a while, perhaps with the whole machine, has not read what peers sent meanwhile.
  if (node_.env.clock.now() - next_tick_ > interval()) resumed_ = node_.env.clock.now();
  if (const Status lives = check_peer_lives(); !lives.ok()) return close(lives);
  unsent_.store(control_->unsent() + (bulk_ ? bulk_->unsent() : 0), std::memory_order_relaxed);
  node_.gpu_borrowers.set(peer_.task, bulk_ && bulk_->lends_gpu_memory());
  if (++ticks_ % limits::patient_heartbeats == 0) begin_audit();
  if (std::exchange(idle_, true)) {
    Outgoing heartbeat;
    heartbeat.message = Draft<wire::Heartbeat>().finish();
    send_on(*control_, std::move(heartbeat));
  }
  start_timer();
}

// Sending.

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

void Link::send(Outgoing outgoing) {
  if (ended_) return outgoing.reply(*closed_);
  const bool bulk = all_by_bulk_ || attachment_bytes(outgoing.message) > limits::max_by_control;
  if (bulk && !bulk_)
    waiting_.push_back(std::move(outgoing));
  else
    send_on(bulk ? *bulk_ : *control_, std::move(outgoing));
}

void Link::send_on(Channel& channel, Outgoing outgoing) {
  FrameHeader& header = outgoing.header;
  if (header.receiver != 0 && !bound(channel, header.receiver))
    return outgoing.reply(unavailable("the actor of " + peer_.task + " has ended"));
  header.request = outgoing.reply.expected();
  if (header.answers != 0) owed_.erase(header.answers);
  const uint64_t schema_id = outgoing.message.schema_id();
  auto sent = channel.send(header, std::move(outgoing.message));
  if (!sent) {
    const Status status = sent.status();
    if (header.request) return outgoing.reply(status);
    if (header.answers == 0) return close(status);
    sent = control_->send(header, failure(status));
  }
  if (&channel == control_.get()) idle_ = false;
  if (header.request) pending_.emplace(*sent, Pending{std::move(outgoing.reply), schema_id, ticks_});
}

bool Link::bound(Channel& channel, uint64_t number) {
  bool& is_bound = bindings_[number][channel.name().bulk ? 1 : 0];
  if (is_bound) return true;
  Draft<wire::Bind> draft;
  draft->setNumber(number);
  {
    const std::lock_guard lock(mutex_);
    const auto address = addresses_.find(number);
    if (address == addresses_.end()) return false;
    write(address->second, draft->initActor());
  }
  is_bound = channel.send({}, draft.finish()).ok();
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

// Goes through the queue, so that Down follows the answers of the actor.
void Link::send_down(uint64_t number, const Status& reason) {
  Draft<wire::Down> draft;
  draft->setNumber(number);
  write(reason, draft->initReason());
  Outgoing outgoing;
  outgoing.message = draft.finish();
  post(std::move(outgoing));
}

// Receiving.

Status Link::without_memory(const Status& shortage) const {
  return resource_exhausted(control_->self().task + " has no memory for tensors that " + peer_.task +
                            " sent: " + shortage.text());
}

Status Link::greeted(Channel&) { return internal("a channel exchanged its Hellos twice"); }

Status Link::received(Channel& channel, Frame frame) {
  if (ended_) return {};
  if (frame.header.answers != 0) {
    answered(std::move(frame));
    return {};
  }
  if (frame.header.receiver != 0) return deliver(std::move(frame));
  TROUPE_ASSIGN(const AnyMessage message, receive_from_peer(std::move(frame)));
  return control(channel, message);
}

Status Link::control(Channel& channel, const AnyMessage& message) {
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
  if (message.schema_id() == schema_id_of<wire::Audit>) {
    audit(channel, message);
    return {};
  }
  if (message.schema_id() == schema_id_of<wire::Audited>) {
    audited(message);
    return {};
  }
  if (message.schema_id() == schema_id_of<wire::Goodbye>) {
    const Message<wire::Goodbye> goodbye(message);
    peer_ends_ = goodbye->getEnds();
    const Status reason = read(goodbye->getReason());
    return reason.ok() ? unavailable(peer_.task + " has closed the link") : reason;
  }
  return invalid_argument("the peer sent the link a message that is meant for an actor");
}

Status Link::bind(uint64_t number, const Address& address) {
  if (exports_.contains(number)) return {};
  if (exports_.size() >= options_.actors)
    return resource_exhausted("the peer addresses more actors than the " + std::to_string(options_.actors) +
                              " that a link allows");
  const auto actor = node_.directory.find_local(address);
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
  node_.engine.end_stub(actor,
                        reason.ok() ? unavailable("the actor of " + peer_.task + " has ended") : reason);
}

void Link::answered(Frame frame) {
  const auto at = pending_.find(frame.header.answers);
  if (at == pending_.end()) {
    ++undeliverable_;
    return;
  }
  const uint64_t request = at->second.schema_id;
  Reply reply = std::move(at->second.reply);
  pending_.erase(at);
  if (!frame.shortage.ok()) return reply(without_memory(frame.shortage));
  auto message = receive_from_peer(std::move(frame));
  if (!message) return reply(message.status());
  if (may_answer(request, message->schema_id())) return reply(std::move(message));
  if (message->schema_id() != schema_id_of<wire::Status>)
    return reply(internal(peer_.task + " answered the request with a message of a wrong type"));
  Status status = read(*Message<wire::Status>(*message));
  reply(status.ok() ? internal(peer_.task + " answered the request with Status Ok instead of a reply")
                    : std::move(status));
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
  Status shortage = frame.shortage.ok() ? Status() : without_memory(frame.shortage);
  TROUPE_ASSIGN(AnyMessage message, receive_from_peer(std::move(frame)));
  if (header.request) {
    if (owed_.size() >= options_.requests)
      return resource_exhausted("the peer waits for the answers to more requests than the " +
                                std::to_string(options_.requests) + " that a link allows");
    owed_.insert(header.sequence);
  }
  if (!shortage.ok()) {
    if (header.request) {
      reply(shortage);
      return {};
    }
    if (message.schema_id() != schema_id_of<wire::TensorsArrived>) return shortage;
    message = arrived_without(shortage, message);
  }
  const auto actor = exports_.find(header.receiver);
  if (actor != exports_.end()) {
    node_.engine.send(actor->second, std::move(message), std::move(reply));
    return {};
  }
  // The actor has ended, and its Down is under way, or it never existed. The destruction of `reply` answers a request.
  ++undeliverable_;
  send_down(header.receiver,
            unavailable("no actor is bound to number " + std::to_string(header.receiver) + " on this link"));
  return {};
}

// Audits: they find requests that will never be answered.

void Link::begin_audit() {
  audit_ = {audit_.number + 1, 0, 0, {}};
  for (const auto& [sequence, pending] : pending_) {
    if (audit_.unknown.size() == max_audited) break;
    if (ticks_ - pending.since >= limits::patient_heartbeats) audit_.unknown.emplace(sequence, 0);
  }
  if (audit_.unknown.empty()) return;
  Draft<wire::Audit> draft;
  draft->setRound(audit_.number);
  auto list = draft->initRequests(static_cast<uint32_t>(audit_.unknown.size()));
  uint32_t i = 0;
  for (const auto& [sequence, channels] : audit_.unknown) list.set(i++, sequence);
  const AnyMessage message = draft.finish();
  for (Channel* const channel : {control_.get(), bulk_.get()}) {
    if (!channel) continue;
    ++audit_.channels;
    Outgoing outgoing;
    outgoing.message = message;
    send_on(*channel, std::move(outgoing));
  }
  audit_.unanswered = audit_.channels;
}

void Link::audit(Channel& channel, const AnyMessage& message) {
  const Message<wire::Audit> asked(message);
  std::vector<uint64_t> lost;
  for (const uint64_t sequence : asked->getRequests())
    if (!owed_.contains(sequence)) lost.push_back(sequence);
  Draft<wire::Audited> draft;
  draft->setRound(asked->getRound());
  auto list = draft->initLost(static_cast<uint32_t>(lost.size()));
  for (uint32_t i = 0; i < lost.size(); ++i) list.set(i, lost[i]);
  Outgoing outgoing;
  outgoing.message = draft.finish();
  send_on(channel, std::move(outgoing));
}

void Link::audited(const AnyMessage& message) {
  const Message<wire::Audited> answer(message);
  if (answer->getRound() != audit_.number || audit_.unanswered == 0) return;
  for (const uint64_t sequence : answer->getLost())
    if (const auto at = audit_.unknown.find(sequence); at != audit_.unknown.end()) ++at->second;
  if (--audit_.unanswered == 0) end_audit();
}

void Link::end_audit() {
  for (const auto& [sequence, channels] : audit_.unknown) {
    const auto at = pending_.find(sequence);
    if (at == pending_.end()) continue;  // the request was answered meanwhile
    Pending& pending = at->second;
    pending.missed = channels == audit_.channels ? pending.missed + 1 : 0;
    if (pending.missed < max_missed) continue;
    Reply reply = std::move(pending.reply);
    pending_.erase(at);
    reply(data_loss(peer_.task + " does not know a request of " + control_->self().task +
                    ": the request or its answer was damaged on its way"));
  }
}

}  // namespace troupe

#include "actors/net/peers.h"

#include <algorithm>

#include "messages/wire/limits.h"

namespace troupe {

Peers::Peers(ActorNode& node, PeersOptions options)
    : node_(node), options_(std::move(options)), random_(node.env.seed) {
  present_->peers = this;
  node_.directory.set_remote_lookup([present = present_](const Address& address) -> Result<ActorRef> {
    const std::shared_lock lock(present->mutex);
    if (!present->peers) return unavailable("this node ends, so " + address.text() + " cannot be found");
    return present->peers->find(address);
  });
}

Peers::~Peers() {
  {
    const std::unique_lock lock(present_->mutex);
    present_->peers = nullptr;
  }
  node_.directory.set_remote_lookup(nullptr);
  endpoints_.clear();
  listener_.reset();
  const Status reason = unavailable("node " + options_.self.task + " ends");
  while (!links_.empty()) links_.back()->close(reason, true);
  while (!pending_.empty()) pending_.back().channel->close(reason);
}

// Connections.

Result<std::string> Peers::listen(const std::string& endpoint) {
  TROUPE_ASSIGN(listener_,
                node_.env.network->listen(endpoint, [this](std::unique_ptr<Connection> connection) {
                  await_hello(std::move(connection), {}, {});
                }));
  return listener_->endpoint();
}

void Peers::await_hello(std::unique_ptr<Connection> connection, std::string expected,
                        std::optional<ChannelName> name) {
  auto channel = std::make_unique<Channel>(node_, static_cast<Channel::Owner&>(*this), options_.self,
                                           options_.link.frames, std::move(connection), name);
  channel->count(traffic_);
  pending_.push_back({std::move(channel), std::move(expected), ++last_pending_});
  node_.env.clock.call_at(node_.env.clock.now() + options_.link.hello,
                          [present = present_, number = last_pending_] {
                            if (present->peers) present->peers->hello_expired(number);
                          });
}

Peers::PendingConnections::iterator Peers::find(const Channel& channel) {
  return std::ranges::find_if(pending_, [&](const auto& one) { return one.channel.get() == &channel; });
}

void Peers::hello_expired(uint64_t number) {
  const auto at = std::ranges::find(pending_, number, &PendingConnection::number);
  if (at != pending_.end()) at->channel->close(unavailable("the peer did not send its Hello in time"));
}

void Peers::connect(const std::string& task, const std::string& endpoint) {
  endpoints_[task] = endpoint;
  dial(task);
}

void Peers::dial(const std::string& task) {
  node_.env.network->connect(
      endpoints_.at(task), node_.env.clock.now() + options_.link.hello,
      [present = present_, task](Result<std::unique_ptr<Connection>> connection) {
        Peers* const peers = present->peers;
        if (!peers) return;
        if (connection)
          return peers->await_hello(std::move(*connection), task, ChannelName{peers->random_(), false});
        peers->record_failure(task, connection.status());
        peers->dial_later(task);
      });
}

/// Makes the second connection of a link: as the peer has offered, if it has and that works, else as the first one.
void Peers::dial_second(const std::shared_ptr<Link>& link) {
  const Channel& control = link->control_channel();
  if (!control.offer()) return dial_bulk(link);
  node_.env.network->accept_offer(
      *control.offer(), control.proven_task(), node_.env.clock.now() + options_.link.hello,
      [present = present_, weak = std::weak_ptr(link)](Result<std::unique_ptr<Connection>> connection) {
        Peers* const peers = present->peers;
        const auto known = weak.lock();
        if (!peers || !known) return;
        if (connection) return peers->await_second(known, std::move(*connection));
        peers->dial_bulk(known, connection.status());
      });
}

void Peers::await_second(const std::shared_ptr<Link>& link, std::unique_ptr<Connection> connection,
                         const Status& unmet) {
  await_hello(std::move(connection), link->peer().task, ChannelName{link->id(), true});
  pending_.back().unmet = unmet;
}

void Peers::dial_bulk(const std::shared_ptr<Link>& link, const Status& unmet) {
  node_.env.network->connect(endpoints_.at(link->peer().task), node_.env.clock.now() + options_.link.hello,
                             [present = present_, weak = std::weak_ptr(link),
                              unmet](Result<std::unique_ptr<Connection>> connection) {
                               Peers* const peers = present->peers;
                               const auto known = weak.lock();
                               if (!peers || !known) return;
                               if (connection)
                                 peers->await_second(known, std::move(*connection), unmet);
                               else
                                 known->close(connection.status());
                             });
}

void Peers::dial_later(const std::string& task) {
  if (!endpoints_.contains(task)) return;
  node_.env.clock.call_at(node_.env.clock.now() + options_.retry, [present = present_, task] {
    Peers* const peers = present->peers;
    if (peers && peers->endpoints_.contains(task) && !peers->link_to(task)) peers->dial(task);
  });
}

// Hellos.

Status Peers::admits(const NodeIdentity& peer) {
  if (peer.asking) return {};
  const auto known = link_to(peer.task);
  if (!known || (*known)->peer().incarnation == peer.incarnation || !(*known)->is_responsive()) return {};
  return already_exists(peer.task + " is there already, as another process that " + options_.self.task +
                        " is linked to" + (is_client(peer.task) ? "; another training may be running" : ""));
}

Status Peers::greeted(Channel& channel) {
  const auto at = find(channel);
  PendingConnection pending = std::move(*at);
  const NodeIdentity& peer = *channel.peer();
  if (!pending.expected.empty() && pending.expected != peer.task) {
    *at = std::move(pending);
    return failed_precondition("expected " + at->expected + " at " + endpoints_.at(at->expected) +
                               ", found " + peer.task);
  }
  if (options_.link.offered_only && !channel.name().bulk && !peer.asking && !channel.offer()) {
    *at = std::move(pending);
    return cannot_meet(peer.task, unavailable("that node does not use it, or not at the same place"));
  }
  pending_.erase(at);
  return channel.name().bulk ? adopt_bulk(std::move(pending)) : open_link(std::move(pending));
}

Status Peers::cannot_meet(const std::string& task, const Status& reason) const {
  return failed_precondition("this node is to use " + node_.env.network->offered_transport() +
                             " only, which does not connect it with " + task + ": " + reason.text());
}

Status Peers::open_link(PendingConnection pending) {
  auto link = Link::open(node_, *this, options_.link, std::move(pending.channel));
  links_.push_back(link);
  if (link->peer().asking) return {};
  refused_since_.erase(link->peer().task);
  std::shared_ptr<Link> previous;
  {
    const std::lock_guard lock(mutex_);
    previous = std::exchange(by_task_[link->peer().task], link);
    transports_.erase(link->peer().task);
    Presence& seen = seen_[link->peer().task];
    seen = {true, seen.links + 1, false};
  }
  if (previous) previous->close(unavailable(link->peer().task + " has opened another link"));
  if (!pending.expected.empty()) dial_second(link);
  node_.scheduler.wake();
  return {};
}

Status Peers::adopt_bulk(PendingConnection pending) {
  const NodeIdentity& peer = *pending.channel->peer();
  const auto link = link_to(peer.task);
  if (!link || (*link)->peer().incarnation != peer.incarnation ||
      (*link)->id() != pending.channel->name().link) {
    pending.channel->set_owner(*this);
    pending.channel->close(
        unavailable("the link of " + peer.task + " that this connection is for is closed"));
    return {};
  }
  if (options_.link.offered_only && !pending.channel->is_offered()) {
    const Status reason = cannot_meet(peer.task, pending.unmet);
    pending.channel->set_owner(*this);
    pending.channel->close(reason);
    (*link)->close(reason);
    return {};
  }
  {
    const std::lock_guard lock(mutex_);
    transports_[peer.task] = pending.channel->is_offered() ? node_.env.network->offered_transport()
                             : pending.unmet.ok()          ? "TCP"
                                                           : "TCP: " + pending.unmet.text();
  }
  (*link)->adopt_bulk(std::move(pending.channel));
  return {};
}

Status Peers::received(Channel&, Frame) { return internal("a frame arrived before the peer's Hello"); }

void Peers::closed(Channel& channel, const Status& reason) {
  const auto at = find(channel);
  if (at == pending_.end()) return;
  const PendingConnection pending = std::move(*at);
  pending_.erase(at);
  if (pending.expected.empty()) return;
  if (channel.name().bulk) {
    if (const auto link = link_to(pending.expected); link && (*link)->id() == channel.name().link)
      (*link)->close(reason);
    return;
  }
  record_failure(pending.expected, reason);
  if (reason.code() == Code::AlreadyExists) record_refusal(pending.expected, reason);
  dial_later(pending.expected);
}

void Peers::record_refusal(const std::string& task, const Status& reason) {
  const int64_t now = node_.env.clock.now(), patience = limits::silent_heartbeats * options_.self.heartbeat;
  if (now - refused_since_.try_emplace(task, now).first->second >= patience && options_.displaced)
    options_.displaced(reason);
}

// Links.

void Peers::record_failure(const std::string& task, const Status& reason) {
  const std::lock_guard lock(mutex_);
  last_failure_[task] = reason;
}

void Peers::closed(Link& link, const Status& reason) {
  const std::string task = link.peer().task;
  std::erase_if(links_, [&](const auto& one) { return one.get() == &link; });
  {
    const std::lock_guard lock(mutex_);
    const auto at = by_task_.find(task);
    if (at == by_task_.end() || at->second.get() != &link) return;
    by_task_.erase(at);
    // The failure of a whole link is not permanent. A peer may refuse one whose second connection has not been made yet.
    const bool was_whole = transports_.erase(task) != 0;
    last_failure_[task] = was_whole ? unavailable(reason.text()) : reason;
    Presence& seen = seen_[task];
    seen = {false, seen.links, link.peer_ends()};
    forget_clients();
  }
  dial_later(task);
}

/// Bounds what is remembered of clients that are gone, each of which may have had a name of its own. The mutex is held.
void Peers::forget_clients() {
  constexpr size_t max_remembered = 1000;
  const auto gone = [this](const auto& entry) {
    return is_client(entry.first) && !by_task_.contains(entry.first) && !endpoints_.contains(entry.first);
  };
  if (last_failure_.size() <= options_.members.size() + max_remembered) return;
  std::erase_if(last_failure_, gone);
  std::erase_if(seen_, gone);
}

Result<std::shared_ptr<Link>> Peers::link_to(const std::string& task) const {
  const std::lock_guard lock(mutex_);
  if (const auto at = by_task_.find(task); at != by_task_.end()) return at->second;
  const auto failure = last_failure_.find(task);
  if (failure == last_failure_.end()) {
    const auto endpoint = endpoints_.find(task);
    return unavailable(
        "no link to " + task +
        (endpoint == endpoints_.end() ? "" : ": " + endpoint->second + " has not answered yet"));
  }
  const Code code = failure->second.code();
  return Status(is_permanent(code) ? code : Code::Unavailable,
                "no link to " + task + ": " + failure->second.text());
}

Result<uint64_t> Peers::incarnation_of(const std::string& task) const {
  TROUPE_ASSIGN(const auto link, link_to(task));
  return link->peer().incarnation;
}

Presence Peers::presence_of(const std::string& task) const {
  const std::lock_guard lock(mutex_);
  const auto seen = seen_.find(task);
  return seen == seen_.end() ? Presence{} : seen->second;
}

uint64_t Peers::unsent() const {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [task, link] : by_task_) bytes += link->unsent();
  return bytes;
}

std::string Peers::transport_of(const std::string& task) const {
  const std::lock_guard lock(mutex_);
  const auto at = transports_.find(task);
  if (at == transports_.end()) return {};
  return node_.gpu_borrowers.contains(task) ? at->second + ", also that of GPUs" : at->second;
}

Result<ActorRef> Peers::find(const Address& address) const {
  TROUPE_ASSIGN(const auto link, link_to(address.task));
  if (address.incarnation == 0) {
    Address current = address;
    current.incarnation = link->peer().incarnation;
    return link->actor(current);
  }
  if (link->peer().incarnation != address.incarnation)
    return unavailable(address.task + " has restarted: " + address.text() +
                       " belongs to an earlier incarnation");
  return link->actor(address);
}

// Actors that peers address.

void Peers::watch(const ActorRef& actor) {
  if (!watched_.insert(actor).second) return;
  node_.engine.watch(actor, [present = present_, actor, &scheduler = node_.scheduler](Status reason) {
    scheduler.enqueue(make_job([present, actor, reason = std::move(reason)] {
      if (present->peers) present->peers->ended(actor, reason);
    }));
  });
}

void Peers::ended(const ActorRef& actor, const Status& reason) {
  watched_.erase(actor);
  for (const auto& link : std::vector(links_)) link->actor_ended(actor, reason);
}

}  // namespace troupe

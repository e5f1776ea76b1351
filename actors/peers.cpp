#include "actors/peers.h"

#include <algorithm>

namespace troupe {

Peers::Peers(ActorNode& node, PeersOptions options)
    : node_(node), options_(std::move(options)), alive_(std::make_shared<Peers*>(this)) {
  node_.directory.set_elsewhere([this](const Address& address) { return find(address); });
}

Peers::~Peers() {
  *alive_ = nullptr;
  node_.directory.set_elsewhere(nullptr);
  endpoints_.clear();
  listener_.reset();
  while (!links_.empty()) links_.back()->close(unavailable("node " + options_.self.task + " ends"));
}

Result<std::string> Peers::listen(const std::string& endpoint) {
  TROUPE_ASSIGN(listener_,
                node_.env.network->listen(endpoint, [this](std::unique_ptr<Connection> connection) {
                  open(std::move(connection));
                }));
  return listener_->endpoint();
}

std::shared_ptr<Link> Peers::open(std::unique_ptr<Connection> connection) {
  auto link = std::make_shared<Link>(node_, static_cast<Link::Owner&>(*this), options_.self, options_.link);
  links_.push_back(link);
  link->open(std::move(connection));
  return link;
}

void Peers::connect(const std::string& task, const std::string& endpoint) {
  endpoints_[task] = endpoint;
  dial(task);
}

void Peers::dial(const std::string& task) {
  const int64_t deadline = node_.env.clock.now() + options_.link.hello;
  node_.env.network->connect(endpoints_.at(task), deadline,
                             [alive = alive_, task](Result<std::unique_ptr<Connection>> connection) {
                               Peers* const peers = *alive;
                               if (!peers) return;
                               if (connection) {
                                 peers->dialled_.emplace(peers->open(std::move(*connection)).get(), task);
                               } else {
                                 peers->note(task, connection.status());
                                 peers->dial_later(task);
                               }
                             });
}

void Peers::dial_later(const std::string& task) {
  node_.env.clock.call_at(node_.env.clock.now() + options_.retry, [alive = alive_, task] {
    Peers* const peers = *alive;
    if (peers && peers->endpoints_.contains(task)) peers->dial(task);
  });
}

void Peers::note(const std::string& task, const Status& reason) {
  const std::lock_guard lock(mutex_);
  last_failure_[task] = reason;
}

Status Peers::greeted(Link& link) {
  const NodeIdentity& peer = *link.peer();
  if (const auto dialled = dialled_.find(&link); dialled != dialled_.end() && dialled->second != peer.task)
    return failed_precondition("expected " + dialled->second + " at " + endpoints_.at(dialled->second) +
                               ", found " + peer.task);
  if (peer.task == options_.self.task) return failed_precondition("this node is " + peer.task + " itself");
  std::shared_ptr<Link> before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(by_task_[peer.task], link.shared_from_this());
  }
  if (before) before->close(unavailable(peer.task + " has connected anew"));
  return {};
}

void Peers::closed(Link& link, const Status& reason) {
  std::string dialled;
  if (const auto at = dialled_.find(&link); at != dialled_.end()) {
    dialled = at->second;
    dialled_.erase(at);
  }
  if (link.peer()) {
    const std::lock_guard lock(mutex_);
    const auto at = by_task_.find(link.peer()->task);
    if (at != by_task_.end() && at->second.get() == &link) by_task_.erase(at);
    last_failure_[link.peer()->task] = reason;
  }
  std::erase_if(links_, [&](const auto& one) { return one.get() == &link; });
  if (dialled.empty() || !endpoints_.contains(dialled)) return;
  note(dialled, reason);
  dial_later(dialled);
}

Result<std::shared_ptr<Link>> Peers::link_to(const std::string& task) const {
  const std::lock_guard lock(mutex_);
  if (const auto at = by_task_.find(task); at != by_task_.end()) return at->second;
  const auto failure = last_failure_.find(task);
  return unavailable("no link to " + task +
                     (failure == last_failure_.end() ? "" : ": " + failure->second.text()));
}

Result<uint64_t> Peers::incarnation_of(const std::string& task) const {
  TROUPE_ASSIGN(const auto link, link_to(task));
  return link->peer()->incarnation;
}

Result<ActorRef> Peers::find(const Address& address) const {
  TROUPE_ASSIGN(const auto link, link_to(address.task));
  if (link->peer()->incarnation != address.incarnation)
    return unavailable(address.task + " has restarted: " + address.text() + " is of its earlier life");
  return link->actor(address);
}

void Peers::watch(const ActorRef& actor) {
  if (!watched_.insert(actor).second) return;
  node_.engine.watch(actor, [alive = alive_, actor, &scheduler = node_.scheduler](Status reason) {
    scheduler.enqueue(make_job([alive, actor, reason = std::move(reason)] {
      if (*alive) (*alive)->ended(actor, reason);
    }));
  });
}

void Peers::ended(const ActorRef& actor, const Status& reason) {
  watched_.erase(actor);
  for (const auto& link : std::vector(links_)) link->actor_ended(actor, reason);
}

}  // namespace troupe

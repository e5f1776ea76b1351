#include "actors/supervision/supervisor.h"

#include <deque>
#include <map>
#include <mutex>

#include "messages/schemas/supervisor.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

struct Supervisor::Supervised {
  ChildSpec child;
  // Guarded by the mutex of Children.
  ActorRef actor;
  ChildSpec::Standing standing = ChildSpec::Standing::Serves;
  // Used by the supervisor's actor only.
  std::deque<int64_t> restarts = {};  ///< the times of the restarts that count for the restart intensity
  uint32_t all_restarts = 0;
  Status reason = {};  ///< why it ended last
};

/// The children of a supervisor. May be used from any thread.
class Supervisor::Children {
 public:
  using Ref = std::shared_ptr<Supervised>;

  explicit Children(ActorNode& node) : node_(node) {}

  void add(ChildSpec child, const ActorRef& actor, const ActorRef& supervisor) {
    const Address address = child.address;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      node_.directory.add(address, actor);
      children_.emplace(address, std::make_shared<Supervised>(Supervised{std::move(child), actor}));
    }
    watch(actor, address, supervisor);
  }

  /// Puts `actor` in the place of the child's actor. Returns false if the child has been dropped.
  bool replace(Supervised& child, const ActorRef& actor, ChildSpec::Standing standing,
               const ActorRef& supervisor) {
    {
      const std::lock_guard lock(mutex_);
      if (!children_.contains(child.child.address)) return false;
      child.actor = actor;
      child.standing = standing;
      node_.directory.add(child.child.address, actor);
    }
    if (standing == ChildSpec::Standing::Serves) watch(actor, child.child.address, supervisor);
    return true;
  }

  void drop(const Address& address) {
    Ref dropped;
    {
      const std::lock_guard lock(mutex_);
      const auto at = children_.find(address);
      if (at == children_.end()) return;
      node_.directory.remove(address);
      dropped = std::move(at->second);
      children_.erase(at);
    }
    end_stub(*dropped, {});
  }

  Ref find(const Address& address) const {
    const std::lock_guard lock(mutex_);
    const auto at = children_.find(address);
    return at == children_.end() ? nullptr : at->second;
  }

  std::vector<Ref> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<Ref> result;
    for (const auto& [address, child] : children_) result.push_back(child);
    return result;
  }

  /// Drops all children. Their functions may hold the last references to this object and to the supervisor.
  void end() {
    std::map<Address, Ref> ended;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      ended.swap(children_);
    }
    for (const auto& [address, child] : ended) end_stub(*child, child->reason);
  }

 private:
  void watch(const ActorRef& actor, const Address& address, const ActorRef& supervisor) {
    node_.engine.watch(actor, [&engine = node_.engine, address, supervisor](const Status& reason) {
      if (reason.ok()) return;
      Draft<wire::ChildEnded> ended;
      write(address, ended->initChild());
      write(reason, ended->initReason());
      engine.send(supervisor, ended.finish());
    });
  }

  void end_stub(const Supervised& child, const Status& reason) {
    if (child.standing == ChildSpec::Standing::Failed) node_.engine.end_stub(child.actor, reason);
  }

  ActorNode& node_;
  mutable std::mutex mutex_;
  std::map<Address, Ref> children_;
  bool ended_ = false;
};

class Supervisor::Role final : public troupe::Role {
 public:
  Role(ActorNode& node, std::shared_ptr<Children> children, RestartIntensity intensity, OnFailure on_failure)
      : node_(node), children_(std::move(children)), intensity_(intensity),
        on_failure_(std::move(on_failure)) {
    on<wire::ListActors>([this](const auto&, Reply reply) { list(std::move(reply)); });
    on<wire::ChildEnded>([this](const auto& message, Reply) {
      if (const auto child = children_->find(read(message->getChild())))
        ended(*child, read(message->getReason()));
    });
  }

 private:
  void stopping() override { children_->end(); }

  void ended(Supervised& supervised, Status reason) {
    supervised.reason = std::move(reason);
    if (Status status = may_restart(supervised); !status.ok()) return fail(supervised, status);
    supervised.restarts.push_back(node_.env.clock.now());
    ++supervised.all_restarts;
    replace(supervised, supervised.child.spawn(), ChildSpec::Standing::Serves);
  }

  bool replace(Supervised& supervised, const ActorRef& actor, ChildSpec::Standing standing) {
    if (!children_->replace(supervised, actor, standing, self())) return false;
    if (supervised.child.placed) supervised.child.placed(actor, standing);
    return true;
  }

  Status may_restart(Supervised& supervised) const {
    auto& restarts = supervised.restarts;
    while (!restarts.empty() && restarts.front() <= node_.env.clock.now() - intensity_.within.count())
      restarts.pop_front();
    if (restarts.size() >= intensity_.restarts)
      return internal("it was restarted " + std::to_string(restarts.size()) + " times within " +
                      std::to_string(intensity_.within / std::chrono::milliseconds(1)) + " ms");
    return supervised.child.recoverable ? supervised.child.recoverable() : Status{};
  }

  void fail(Supervised& supervised, const Status& why) {
    const Status answer =
        internal(supervised.child.address.text() + " has failed and cannot be restarted: " + why.text() +
                 "; its last failure: " + supervised.reason.text());
    const ActorRef stub = engine().spawn_stub([answer](const AnyMessage&, Reply reply) { reply(answer); });
    if (replace(supervised, stub, ChildSpec::Standing::Failed) && on_failure_) on_failure_(answer);
  }

  void list(Reply reply) const {
    const auto children = children_->all();
    Draft<wire::ActorsListed> draft;
    auto list = draft->initActors(static_cast<uint32_t>(children.size()));
    for (uint32_t i = 0; i < children.size(); ++i) {
      write(children[i]->child.address, list[i].initAddress());
      list[i].setRestarts(children[i]->all_restarts);
      write(children[i]->reason, list[i].initReason());
      list[i].setFailed(children[i]->standing == ChildSpec::Standing::Failed);
    }
    reply(draft.finish());
  }

  ActorNode& node_;
  const std::shared_ptr<Children> children_;
  const RestartIntensity intensity_;
  const OnFailure on_failure_;
};

Supervisor::Supervisor(ActorNode& node, Address address, RestartIntensity intensity, OnFailure on_failure)
    : address_(std::move(address)), children_(std::make_shared<Children>(node)),
      actor_(node.engine.spawn(std::make_unique<Role>(node, children_, intensity, std::move(on_failure)))) {
  node.directory.add(address_, actor_);
}

void Supervisor::add(ChildSpec child, const ActorRef& actor) {
  children_->add(std::move(child), actor, actor_);
}

void Supervisor::drop(const Address& child) { children_->drop(child); }

}  // namespace troupe

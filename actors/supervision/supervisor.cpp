#include "actors/supervision/supervisor.h"

#include <deque>

#include "messages/schemas/supervisor.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

struct Supervised {
  ChildSpec permanent;
  ActorRef actor;
  std::deque<int64_t> restarts;  ///< when, as far as they count
  uint32_t all_restarts = 0;
  Status reason;  ///< why it ended last
  bool on_failure = false;
};

void place(ActorNode& node, const Supervised& supervised) {
  node.directory.add(supervised.permanent.address, supervised.actor);
  if (supervised.permanent.placed) supervised.permanent.placed(supervised.actor);
}

class SupervisorRole final : public Role {
 public:
  SupervisorRole(ActorNode& node, std::vector<Supervised> actors, RestartIntensity intensity,
                 OnFailure on_failure)
      : node_(node), actors_(std::move(actors)), intensity_(intensity), on_failure_(std::move(on_failure)) {
    on<wire::ListActors>([this](const auto&, Reply reply) { list(std::move(reply)); });
  }

 private:
  void started() override {
    for (Supervised& supervised : actors_) watch_over(supervised);
  }

  void stopping() override {
    for (const Supervised& supervised : actors_)
      if (supervised.on_failure) engine().end_stub(supervised.actor, supervised.reason);
  }

  void watch_over(Supervised& supervised) {
    watch(supervised.actor, [this, &supervised](Status reason) {
      if (!reason.ok()) ended(supervised, std::move(reason));
    });
  }

  void ended(Supervised& supervised, Status reason) {
    supervised.reason = std::move(reason);
    if (Status status = may_restart(supervised); !status.ok()) return give_up(supervised, status);
    supervised.restarts.push_back(node_.env.clock.now());
    ++supervised.all_restarts;
    supervised.actor = supervised.permanent.spawn();
    place(node_, supervised);
    watch_over(supervised);
  }

  Status may_restart(Supervised& supervised) const {
    auto& restarts = supervised.restarts;
    while (!restarts.empty() && restarts.front() <= node_.env.clock.now() - intensity_.within.count())
      restarts.pop_front();
    if (restarts.size() >= intensity_.restarts)
      return internal("it was restarted " + std::to_string(restarts.size()) + " times within " +
                      std::to_string(intensity_.within / std::chrono::milliseconds(1)) + " ms");
    return supervised.permanent.recoverable ? supervised.permanent.recoverable() : Status{};
  }

  void give_up(Supervised& supervised, const Status& why) {
    const Status answer = internal(supervised.permanent.address.text() + " is given up, for " + why.text() +
                                   "; it ended with " + supervised.reason.text());
    supervised.on_failure = true;
    supervised.actor = engine().spawn_stub([answer](const AnyMessage&, Reply reply) { reply(answer); });
    place(node_, supervised);
    if (on_failure_) on_failure_(answer);
  }

  void list(Reply reply) const {
    Draft<wire::ActorsListed> draft;
    auto list = draft->initActors(static_cast<uint32_t>(actors_.size()));
    for (uint32_t i = 0; i < actors_.size(); ++i) {
      write(actors_[i].permanent.address, list[i].initAddress());
      list[i].setRestarts(actors_[i].all_restarts);
      write(actors_[i].reason, list[i].initReason());
      list[i].setGivenUp(actors_[i].on_failure);
    }
    reply(draft.finish());
  }

  ActorNode& node_;
  std::vector<Supervised> actors_;  ///< never moved: watches point into it
  const RestartIntensity intensity_;
  const OnFailure on_failure_;
};

}  // namespace

ActorRef spawn_supervisor(ActorNode& node, const Address& address, std::vector<ChildSpec> actors,
                          RestartIntensity intensity, OnFailure on_failure) {
  std::vector<Supervised> supervised;
  for (ChildSpec& permanent : actors) {
    supervised.push_back({std::move(permanent), {}, {}, 0, {}, false});
    supervised.back().actor = supervised.back().permanent.spawn();
    place(node, supervised.back());
  }
  auto supervisor = node.engine.spawn(
      std::make_unique<SupervisorRole>(node, std::move(supervised), intensity, std::move(on_failure)));
  node.directory.add(address, supervisor);
  return supervisor;
}

}  // namespace troupe

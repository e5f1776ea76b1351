#include "actors/services/mirror/mirror_source.h"

#include <optional>
#include <vector>

#include "actors/engine/role.h"
#include "actors/services/mirror/mirror_expiry.h"
#include "actors/services/variable/variable_service.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// In nanoseconds: how long a mirror goes on when its client is lost, which may be linked again.
constexpr int64_t patience_without_client = 10'000'000'000;

class MirrorSourceRole final : public Role {
 public:
  MirrorSourceRole(std::shared_ptr<DeviceSite> site, Address self)
      : site_(std::move(site)), address_(std::move(self)), variables_(VariableService::of(*site_)) {
    on<wire::BeginMirror>([this](const auto& message, Reply reply) { begin(*message, std::move(reply)); });
    on<wire::AwaitMirrorEnd>([this](const auto& message, Reply reply) {
      if (!has(message->getMirror()))
        return reply(not_found("this device has no mirror " + std::to_string(message->getMirror())));
      if (!mirror_->lost.ok()) return reply(ended(true));
      mirror_->awaiting.push_back(std::move(reply));
    });
    on<wire::EndMirror>([this](const auto& message, Reply reply) {
      if (message->getAdopted()) variables_.mirrored().give_away(message->getMirror());
      end(message->getMirror(), std::move(reply));
    });
    on<wire::MirrorExpired>([this](const auto& message, Reply) { expire(message->getMirror()); });
    on<wire::MirrorLost>([this](const auto& message, Reply) {
      lose(message->getMirror(), unavailable("the mirror could not make a change of the variables"));
    });
  }

 private:
  struct Mirror {
    uint64_t number = 0;
    ActorRef target;
    Address client;
    Status lost;  ///< why it is lost; Ok if it is not
    std::vector<Reply> awaiting;
  };

  bool has(uint64_t mirror) const { return mirror_ && mirror_->number == mirror; }

  void begin(const wire::BeginMirror::Reader& message, Reply reply) {
    const uint64_t number = message.getMirror();
    if (mirror_) end(mirror_->number, Reply());
    const auto target = site_->node.directory.find(read(message.getTarget()));
    if (!target) return reply(target.status());
    const auto client = site_->node.directory.find(read(message.getClient()));
    if (!client) return reply(client.status());
    if (Status status = variables_.mirrored().take_part(message.getAttempt()); !status.ok())
      return reply(status);
    mirror_ = Mirror{number, *target, read(message.getClient()), {}, {}};
    watch(*target, [this, number](const Status& reason) { lose(number, reason); });
    watch_client(*client);
    Draft<wire::OpenMirror> draft;
    draft->setMirror(number);
    write(address_, draft->initSource());
    draft->setAttempt(message.getAttempt());
    draft->setOwnsNothing(message.getTargetOwnsNothing());
    auto kept = std::make_shared<Reply>(std::move(reply));
    ask(*target, draft.finish(), [this, number, kept](const Result<AnyMessage>& opened) {
      if (!has(number)) return (*kept)(aborted("another mirror has begun"));
      if (opened) return copy(kept);
      mirror_.reset();
      (*kept)(opened.status());
    });
  }

  /// Has the actors of all variables send their values to the mirror, and every change from then on.
  void copy(const std::shared_ptr<Reply>& reply) {
    const uint64_t number = mirror_->number;
    tell_actors(MirrorTarget{number, mirror_->target, self()}, [this, number, reply](const Answers& answers) {
      if (!has(number)) return (*reply)(aborted("the mirror has ended"));
      for (const auto& answer : answers)
        if (!answer && mirror_->lost.ok() && answer.status().code() != Code::Unavailable)
          return (*reply)(answer.status());
      if (!mirror_->lost.ok()) return (*reply)(mirror_->lost);
      (*reply)(Draft<wire::MirrorBegun>().finish());
    });
  }

  void tell_actors(std::optional<MirrorTarget> target, AllAnswered then) {
    const AnyMessage changed = Draft<wire::MirrorChanged>().finish();
    std::vector<AddressedRequest> requests;
    for (const ActorRef& actor : variables_.groups().set_mirror(std::move(target)))
      requests.push_back({actor, changed});
    ask_all(std::move(requests), std::move(then));
  }

  void lose(uint64_t mirror, const Status& reason) {
    if (!has(mirror) || !mirror_->lost.ok()) return;
    mirror_->lost =
        unavailable("the mirror of " + site_->device->name().text() + " is lost: " + reason.message());
    for (Reply& reply : std::exchange(mirror_->awaiting, {})) reply(ended(true));
  }

  void end(uint64_t mirror, Reply reply) {
    if (!has(mirror)) return reply(ended(false));
    auto replies = std::make_shared<std::vector<Reply>>(std::move(mirror_->awaiting));
    replies->push_back(std::move(reply));
    const ActorRef target = mirror_->target;
    mirror_.reset();
    tell_actors({}, [replies](const Answers&) {
      for (Reply& each : *replies) each(ended(false));
    });
    ask(target, drop_message(mirror), [](const Result<AnyMessage>&) {});
  }

  void watch_client(const ActorRef& client) {
    watch(client, [this, number = mirror_->number](const Status&) {
      expire_mirror(*site_, self(), number, patience_without_client);
    });
  }

  /// Called some time after the client was lost. It may have adopted the mirror before, or may do so if only this device has lost
  /// it. If the mirror is lost, too, changes would wait for ever.
  void expire(uint64_t mirror) {
    if (!has(mirror)) return;
    if (const auto client = site_->node.directory.find(mirror_->client)) return watch_client(*client);
    ask(mirror_->target, drop_message(mirror), [this, mirror](const Result<AnyMessage>& dropped) {
      if (dropped || dropped.status().code() == Code::Unavailable) end(mirror, Reply());
    });
  }

  static AnyMessage ended(bool lost) {
    Draft<wire::MirrorEnded> draft;
    draft->setLost(lost);
    return draft.finish();
  }

  static AnyMessage drop_message(uint64_t mirror) {
    Draft<wire::DropMirror> draft;
    draft->setMirror(mirror);
    return draft.finish();
  }

  std::shared_ptr<DeviceSite> site_;
  const Address address_;  ///< of this actor
  VariableService& variables_;
  std::optional<Mirror> mirror_;
};

}  // namespace

ActorRef spawn_mirror_source(std::shared_ptr<DeviceSite> site, const Address& self) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<MirrorSourceRole>(std::move(site), self));
}

}  // namespace troupe

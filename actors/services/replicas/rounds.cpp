#include "actors/services/replicas/rounds.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "actors/engine/role.h"
#include "actors/services/replicas/round_set.h"
#include "actors/services/replicas/staleness_gate.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr size_t max_coordinated = 1024;
constexpr uint32_t max_round_shards = 1 << 20;

struct Trainer {
  ActorRef actor;
  std::vector<uint32_t> shards;
};

struct Training {
  RoundSet set;
  bool backups = false;
  std::optional<StalenessGate> gate;  ///< with bounded staleness
  std::vector<ActorRef> replicas;
  std::vector<Trainer> trainers;
};

Status check(const wire::BeginRounds::Reader& begin) {
  const uint32_t n = begin.getShards(), m = begin.getRequired();
  const bool numbers = begin.getTraining() != 0 && n >= 1 && n <= max_round_shards && m >= 1 && m <= n &&
                       (begin.getBackups() || m == n);
  const bool pushes = begin.getPushes() >= 1 && begin.getReplicas().size() > 0;
  if (!numbers || (!pushes && begin.getStaleness() < 0))
    return invalid_argument(
        "training " + std::to_string(begin.getTraining()) + " requires " + std::to_string(m) + " of " +
        std::to_string(n) + " shards, with " + std::to_string(begin.getPushes()) + " pushes each to " +
        std::to_string(begin.getReplicas().size()) +
        " replicas roles; allowed: 1 <= required <= shards, less only with backup workers");
  return {};
}

class RoundsRole final : public Role {
 public:
  RoundsRole(ActorNode& node, Address self) : node_(node), address_(std::move(self)) {
    on<wire::BeginRounds>([this](const auto& message, Reply reply) { begin(message, std::move(reply)); });
    on<wire::SetTrainers>([this](const auto& message, Reply) { set_trainers(*message); });
    on<wire::ShardsArrived>([this](const auto& message, Reply) { arrived(*message); });
    on<wire::FinishRound>(
        [this](const auto& message, Reply reply) { finish_round(*message, std::move(reply)); });
    on<wire::RequireShards>([this](const auto& message, Reply reply) { reply(require(*message)); });
    on<wire::EndRounds>([this](const auto& message, Reply reply) { reply(end(message->getTraining())); });
  }

 private:
  using Id = uint64_t;

  void begin(const Message<wire::BeginRounds>& message, Reply reply) {
    if (Status status = admit(*message); !status.ok()) return reply(status);
    const Id id = message->getTraining();
    Draft<wire::FollowRounds> draft;
    draft->setTraining(id);
    write(address_, draft->initCoordinator());
    draft->setBackups(message->getBackups());
    const AnyMessage follow = draft.finish();
    std::vector<AddressedRequest> requests;
    for (const ActorRef& role : trainings_.at(id).replicas) requests.push_back({role, follow});
    auto kept = std::make_shared<Reply>(std::move(reply));
    ask_all(std::move(requests), [this, id, kept](const Answers& answers) {
      const auto failed = std::ranges::find_if(answers, [](const auto& answer) { return !answer; });
      if (failed == answers.end()) return (*kept)(Draft<wire::RoundsBegun>().finish());
      drop(id);
      (*kept)(failed->status());
    });
  }

  /// Checks the request, finds the actors that it names, and adds the training.
  Status admit(const wire::BeginRounds::Reader& begin) {
    TROUPE_RETURN_IF_FAILED(check(begin));
    const Id id = begin.getTraining();
    if (trainings_.contains(id))
      return already_exists("training " + std::to_string(id) + " has begun already");
    if (trainings_.size() == max_coordinated)
      return resource_exhausted("this task already coordinates " + std::to_string(max_coordinated) +
                                " trainings");
    Training training{{begin.getShards(), begin.getRequired(), begin.getPushes(), begin.getApplied()},
                      begin.getBackups(),
                      {},
                      {},
                      {}};
    if (begin.getStaleness() >= 0) training.gate.emplace(static_cast<uint64_t>(begin.getStaleness()));
    TROUPE_ASSIGN(const ActorRef client, node_.directory.find(read(begin.getClient())));
    for (const auto address : begin.getReplicas()) {
      TROUPE_ASSIGN(training.replicas.emplace_back(), node_.directory.find(read(address)));
    }
    const auto drop_then = [this, id](const Status&) { drop(id); };
    watch(client, drop_then);
    for (const ActorRef& role : training.replicas) watch(role, drop_then);
    trainings_.emplace(id, std::move(training));
    return {};
  }

  void set_trainers(const wire::SetTrainers::Reader& message) {
    const auto at = trainings_.find(message.getTraining());
    if (at == trainings_.end()) return;
    at->second.trainers.clear();
    for (const auto trainer : message.getTrainers())
      if (const auto actor = node_.directory.find(read(trainer.getActor())))
        at->second.trainers.push_back({*actor, vector_of<uint32_t>(trainer.getShards())});
    if (!at->second.gate) return;
    std::vector<bool> takes_part;
    for (const auto trainer : message.getTrainers()) takes_part.push_back(trainer.getShards().size() > 0);
    at->second.gate->set_workers(takes_part, message.getApplied());
  }

  void finish_round(const wire::FinishRound::Reader& message, Reply reply) {
    const auto at = trainings_.find(message.getTraining());
    if (at == trainings_.end() || !at->second.gate)
      return reply(aborted("training " + std::to_string(message.getTraining()) +
                           " has ended, or has no bounded staleness"));
    at->second.gate->finished(message.getWorker(), message.getRound(), std::move(reply));
  }

  void arrived(const wire::ShardsArrived::Reader& message) {
    const auto at = trainings_.find(message.getTraining());
    if (at == trainings_.end()) return;
    for (const auto arrival : message.getArrivals())
      if (arrival.getShard() < at->second.set.shards())
        at->second.set.arrived(arrival.getRound(), arrival.getShard(), arrival.getPushes());
    fix_if_complete(at->first, at->second);
  }

  void fix_if_complete(Id id, Training& training) {
    if (!training.backups) return;
    const auto set = training.set.fix();
    if (!set) return;
    Draft<wire::RoundFixed> draft;
    draft->setTraining(id);
    draft->setRound(training.set.fixed());
    const std::span<const uint32_t> shards(*set);
    draft->setShards(kj::arrayPtr(shards.data(), shards.size()));
    const AnyMessage fixed = draft.finish();
    for (const ActorRef& role : training.replicas) tell(role, fixed);
    const auto is_late = [&](uint32_t shard) { return !std::ranges::binary_search(*set, shard); };
    for (const Trainer& trainer : training.trainers)
      if (std::ranges::any_of(trainer.shards, is_late)) tell(trainer.actor, fixed);
  }

  Result<AnyMessage> require(const wire::RequireShards::Reader& message) {
    const auto at = trainings_.find(message.getTraining());
    if (at == trainings_.end())
      return not_found("training " + std::to_string(message.getTraining()) + " has ended or not begun");
    Training& training = at->second;
    if (!training.backups)
      return failed_precondition("the training has no backup workers, so all its shards are required");
    if (message.getRequired() < 1 || message.getRequired() > training.set.shards())
      return invalid_argument("required is " + std::to_string(message.getRequired()) + "; allowed: 1 to " +
                              std::to_string(training.set.shards()));
    training.set.require(message.getRequired());
    fix_if_complete(at->first, training);
    return Draft<wire::RoundsBegun>().finish();
  }

  AnyMessage end(Id id) {
    Draft<wire::RoundsEnded> draft;
    if (const auto at = trainings_.find(id); at != trainings_.end()) {
      const std::span<const uint64_t> left_out(at->second.set.left_out());
      draft->setLeftOut(kj::arrayPtr(left_out.data(), left_out.size()));
      draft->setLate(at->second.set.late());
    }
    drop(id);
    return draft.finish();
  }

  void drop(Id id) {
    const auto training = trainings_.extract(id);
    if (training.empty()) return;
    Draft<wire::StopFollowing> draft;
    draft->setTraining(id);
    if (auto& gate = training.mapped().gate) gate->end(aborted("the training has ended"));
    const AnyMessage stop = draft.finish();
    for (const ActorRef& role : training.mapped().replicas) tell(role, stop);
  }

  ActorNode& node_;
  const Address address_;
  std::unordered_map<Id, Training> trainings_;
};

}  // namespace

ActorRef spawn_rounds(ActorNode& node, const Address& self) {
  return node.engine.spawn(std::make_unique<RoundsRole>(node, self));
}

}  // namespace troupe

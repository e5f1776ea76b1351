#include "actors/services/replicas/replicas.h"

#include <algorithm>
#include <map>
#include <optional>

#include "actors/services/replicas/combined_gradients.h"
#include "actors/services/replicas/replica_group.h"
#include "actors/services/replicas/replicas_service.h"
#include "kernels/loops/weighted_mean.h"
#include "kernels/loops/weighted_rows.h"
#include "kernels/runtime/uninitialized.h"
#include "messages/schemas/replicas.capnp.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

// A group, named by the variable that counts its rounds:
//
//          first push of the          all shards have pushed, or    the rule is applied,
//          next round                 RoundFixed (complete), and    the round counted
//                                     the groups before it done
//   idle -----------------> gathering ------------> committing --------------------> idle: each push is answered Committed
//     ^                      |  ^  |                    |
//     |   cancelled, and no  |  +--+ push, cancel       | failed: each push is answered with the failure; nothing was applied
//     |   push is left, or   |                          |
//     +-- StopFollowing -----+                          |
//     +-------------------------------------------------+

namespace troupe {
namespace {

/// More bytes of gradients are averaged or combined outside the handler.
constexpr size_t max_bytes_in_handler = 64 << 10;
constexpr size_t max_trainings = 1024;

using Push = ReplicaGroup::Push;

/// A training that this role follows.
struct Followed {
  ActorRef coordinator;
  bool backups = false;
  /// With backup workers: by round and shard, the number of pushes since the last report.
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> unreported;
};

/// A step that waits until a counter reaches a round.
struct AwaitingStep {
  uint64_t round = 0, training = 0;
  PushingStep step;
  Reply reply;
};

class ReplicasRole final : public Role {
 public:
  explicit ReplicasRole(std::shared_ptr<DeviceSite> site)
      : site_(std::move(site)), service_(ReplicasService::of(*site_)),
        rules_(VariableService::of(*site_).rules()) {
    on<wire::PushGradient>([this](const auto& message, Reply reply) { push(message, std::move(reply)); });
    on<wire::AwaitRound>([this](const auto& message, Reply reply) { await(message, std::move(reply)); });
    on<wire::CancelPushes>([this](const auto& message, Reply) {
      cancel({message->getStep().getSession(), message->getStep().getOrdinal()});
    });
    on<wire::GradientMade>([this](const auto& message, Reply) {
      if (groups_.contains(message->getRoundCell())) made(message);
    });
    on<wire::ReportArrivals>([this](const auto& message, Reply) { report(message->getTraining()); });
    on<wire::FollowRounds>([this](const auto& message, Reply reply) { reply(follow(*message)); });
    on<wire::RoundFixed>([this](const auto& message, Reply) { fixed(*message); });
    on<wire::StopFollowing>([this](const auto& message, Reply) {
      stop_following(message->getTraining(), aborted("the training has ended"));
    });
  }

 private:
  using GroupId = uint32_t;  ///< the number of the counting variable

  void stopping() override {
    for (const auto& [id, group] : groups_)
      if (group.rule_number != 0) rules_.remove(group.rule_number);
  }

  // ---- Gathering

  void push(const Push& message, Reply reply) {
    if (Status status = check_training(message->getTraining()); !status.ok()) return reply(status);
    with_applied(message->getRoundCell(), message->getStep(), std::move(reply),
                 [this, message](const StateCell& counter, uint64_t applied, Reply to) {
                   push_after(counter, applied, message, std::move(to));
                 });
  }

  void push_after(const StateCell& counter, uint64_t applied, const Push& message, Reply reply) {
    const uint64_t round = message->getRound();
    if (round <= applied) {
      note_arrival(message);
      return reply(committed(applied));
    }
    if (round != applied + 1)
      return reply(aborted("round " + std::to_string(round) + " was pushed for '" + counter.name() +
                           "', but the next round is " + std::to_string(applied + 1)));
    auto group = prepare_group(message, counter.name());
    if (!group) return reply(group.status());
    join(**group, message, std::move(reply));
  }

  Status check_training(uint64_t training) const {
    if (training == 0 || trainings_.contains(training)) return {};
    return aborted("training " + std::to_string(training) + " has ended, or has not begun here");
  }

  using WithApplied = std::function<void(const StateCell& counter, uint64_t applied, Reply reply)>;

  /// Calls `then` with the number of rounds that have been applied. If the counter is being changed, its owner answers a Read when
  /// the change is done. If there is no such number, answers with the failure.
  void with_applied(GroupId id, const wire::StepId::Reader& step, Reply reply, const WithApplied& then) {
    const auto counter = site_->state->at(id);
    if (!counter) return reply(not_found("no variable has number " + std::to_string(id)));
    Snapshot snapshot;
    if (counter->try_read(snapshot) != StateCell::Reading::Busy) {
      const auto applied = rounds_in(*counter, snapshot.value);
      return applied ? then(*counter, *applied, std::move(reply)) : reply(applied.status());
    }
    const auto owner = site_->owner(*counter);
    if (!owner) return reply(owner.status());
    Draft<wire::Read> draft;
    draft->setStep(step);
    draft->initCells(1).set(0, id);
    auto kept = std::make_shared<Reply>(std::move(reply));
    const AnyMessage read = draft.finish();
    ask(*owner, read, [this, id, read, kept, then](const Result<AnyMessage>& answer) {
      if (!answer) return (*kept)(answer.status());
      with_applied(id, Message<wire::Read>(read)->getStep(), std::move(*kept), then);
    });
  }

  static Result<uint64_t> rounds_in(const StateCell& counter, const Tensor& value) {
    if (!value.valid()) return uninitialized(counter.name());
    if (value.dtype() != DType::Int64 || value.elements() != 1 || value.as<int64_t>()[0] < 0)
      return invalid_argument("the variable '" + counter.name() + "' cannot count rounds: it is " +
                              value.signature() + ", but must be one int64 that is not negative");
    return static_cast<uint64_t>(value.as<int64_t>()[0]);
  }

  /// Returns the group that gathers the round of this push, after checking that the push agrees with the earlier ones.
  Result<ReplicaGroup*> prepare_group(const Push& message, const std::string& name) {
    auto rule = rules_.find(message->getRule());
    if (!rule) return not_found("no update rule has number " + std::to_string(message->getRule()));
    TROUPE_RETURN_IF_FAILED(ReplicaGroup::check(message));
    const GroupId id = message->getRoundCell();
    if (const auto at = groups_.find(id); at != groups_.end()) {
      ReplicaGroup& group = at->second;
      if (group.round() == message->getRound() && group.training() == message->getTraining()) {
        TROUPE_RETURN_IF_FAILED(group.check_against_first(message, *rule));
        return &group;
      }
      const Status changed = aborted("the round counter '" + name + "' was changed while round " +
                                     std::to_string(group.round()) + " was being gathered");
      if (group.committing) return changed;
      finish(id, changed);
    }
    return &groups_.try_emplace(id, name, message, std::move(rule)).first->second;
  }

  void join(ReplicaGroup& group, const Push& message, Reply reply) {
    const bool is_new = group.keep(message);
    if (message->getWait())
      group.wait(message, std::move(reply));
    else
      reply(committed(group.round() - 1));
    if (is_new || group.complete) note_arrival(message);
    if (!group.complete && !has_backups(group) && group.has_all()) complete(message->getRoundCell(), group);
  }

  void await(const Message<wire::AwaitRound>& message, Reply reply) {
    if (Status status = check_training(message->getTraining()); !status.ok()) return reply(status);
    with_applied(message->getRoundCell(), message->getStep(), std::move(reply),
                 [this, message](const StateCell&, uint64_t applied, Reply to) {
                   if (applied >= message->getRound()) return to(committed(applied));
                   awaiting_[message->getRoundCell()].push_back(
                       {message->getRound(),
                        message->getTraining(),
                        {message->getStep().getSession(), message->getStep().getOrdinal()},
                        std::move(to)});
                 });
  }

  void cancel(const PushingStep& step) {
    for (auto at = groups_.begin(); at != groups_.end();) {
      ReplicaGroup& group = at->second;
      if (!group.complete) group.cancel(step);
      at = group.empty() ? groups_.erase(at) : std::next(at);
    }
    answer_awaiting([&](GroupId, const AwaitingStep& waiting) { return waiting.step == step; },
                    cancelled("the step ended before the round was applied"));
  }

  /// Answers the steps that wait for a counter and that `which` selects.
  template <class Which>
  void answer_awaiting(const Which& which, const Result<AnyMessage>& answer) {
    for (auto at = awaiting_.begin(); at != awaiting_.end();) {
      std::erase_if(at->second, [&](AwaitingStep& waiting) {
        if (!which(at->first, waiting)) return false;
        waiting.reply(answer);
        return true;
      });
      at = at->second.empty() ? awaiting_.erase(at) : std::next(at);
    }
  }

  // ---- Trainings with a coordinator

  Result<AnyMessage> follow(const wire::FollowRounds::Reader& message) {
    const uint64_t id = message.getTraining();
    if (id == 0 || trainings_.contains(id))
      return already_exists("training " + std::to_string(id) + " is followed already");
    if (trainings_.size() == max_trainings)
      return resource_exhausted("this device already follows " + std::to_string(max_trainings) +
                                " trainings");
    TROUPE_ASSIGN(const ActorRef coordinator, site_->node.directory.find(read(message.getCoordinator())));
    trainings_.emplace(id, Followed{coordinator, message.getBackups(), {}});
    watch(coordinator, [this, id](const Status& reason) { stop_following(id, reason); });
    return Draft<wire::Following>().finish();
  }

  bool has_backups(const ReplicaGroup& group) const {
    const auto training = trainings_.find(group.training());
    return training != trainings_.end() && training->second.backups;
  }

  /// Notes that a push has arrived. One report covers all pushes that are in the mailbox now.
  void note_arrival(const Push& message) {
    const auto at = trainings_.find(message->getTraining());
    if (at == trainings_.end() || !at->second.backups) return;
    if (at->second.unreported.empty()) {
      Draft<wire::ReportArrivals> draft;
      draft->setTraining(at->first);
      tell(self(), draft.finish());
    }
    ++at->second.unreported[{message->getRound(), message->getShard()}];
  }

  void report(uint64_t training) {
    const auto at = trainings_.find(training);
    if (at == trainings_.end()) return;
    auto& unreported = at->second.unreported;
    Draft<wire::ShardsArrived> draft;
    draft->setTraining(training);
    auto arrivals = draft->initArrivals(static_cast<uint32_t>(unreported.size()));
    uint32_t i = 0;
    for (const auto& [key, pushes] : unreported) {
      arrivals[i].setRound(key.first);
      arrivals[i].setShard(key.second);
      arrivals[i++].setPushes(pushes);
    }
    unreported.clear();
    tell(at->second.coordinator, draft.finish());
  }

  void fixed(const wire::RoundFixed::Reader& message) {
    const auto shards = vector_of<uint32_t>(message.getShards());
    for (const GroupId id : groups_of(message.getTraining())) {
      if (!groups_.contains(id)) continue;  // it failed with the group that it was to follow
      ReplicaGroup& group = groups_.at(id);
      if (group.round() != message.getRound() || group.complete) continue;
      if (Status status = group.keep_only(shards); !status.ok())
        finish(id, status);
      else
        complete(id, group);
    }
  }

  void stop_following(uint64_t training, const Status& reason) {
    if (trainings_.erase(training) == 0) return;
    for (const GroupId id : groups_of(training))
      if (groups_.contains(id) && !groups_.at(id).committing) finish(id, reason);
    answer_awaiting([&](GroupId, const AwaitingStep& waiting) { return waiting.training == training; },
                    reason);
  }

  std::vector<GroupId> groups_of(uint64_t training) const {
    std::vector<GroupId> ids;
    for (const auto& [id, group] : groups_)
      if (group.training() == training) ids.push_back(id);
    return ids;
  }

  // ---- Committing

  /// Called when the set of shards is final. The group is committed when those have been that it must follow.
  void complete(GroupId id, ReplicaGroup& group) {
    group.complete = true;
    for (const GroupId other : group.first()->getAfter())
      if (!has_reached(other, group.round())) {
        followers_[other].push_back(id);
        return;
      }
    commit(id, group);
  }

  bool has_reached(GroupId id, uint64_t round) const {
    const auto counter = site_->state->at(id);
    Snapshot snapshot;
    if (!counter || counter->try_read(snapshot) == StateCell::Reading::Busy) return false;
    const auto applied = rounds_in(*counter, snapshot.value);
    return applied && *applied >= round;
  }

  void commit(GroupId id, ReplicaGroup& group) {
    group.committing = true;
    ++service_.committing;
    if (!group.has_gradient()) return update(id, std::vector<Tensor>());
    if (group.rule()->combination) return combine(id, group);
    group.has_rows() ? average_rows(id, group) : average(id, group);
  }

  void combine(GroupId id, const ReplicaGroup& group) {
    std::vector<Tensor> gradients = group.gradients();
    const size_t bytes = gradients.front().bytes() * gradients.size();
    make_gradient(id, bytes,
                  [gradients = std::move(gradients), samples = group.samples(),
                   rule = group.rule()](DeviceContext& device) -> Result<std::vector<Tensor>> {
                    TROUPE_ASSIGN(auto result, combined(*rule->combination, gradients, samples, device));
                    return std::vector<Tensor>{std::move(result)};
                  });
  }

  void average(GroupId id, const ReplicaGroup& group) {
    std::vector<Tensor> gradients = group.gradients();
    auto samples = group.samples();
    auto mean = allocate_mean(gradients, samples, site_->device->context().memory());
    if (!mean) return finish(id, mean.status());
    const size_t bytes = mean->bytes() * gradients.size();
    make_gradient(id, bytes,
                  [gradients = std::move(gradients), samples = std::move(samples),
                   mean = std::move(*mean)](DeviceContext& device) mutable {
                    weighted_mean(gradients, samples, mean, device.pool());
                    return Result(std::vector<Tensor>{std::move(mean)});
                  });
  }

  void average_rows(GroupId id, const ReplicaGroup& group) {
    std::vector<TensorRows> shards = group.rows();
    size_t bytes = 0;
    for (const TensorRows& rows : shards) bytes += rows.values.bytes();
    auto samples = group.samples();
    auto mean = allocate_rows_mean(shards, samples, site_->device->context().memory());
    if (!mean) return finish(id, mean.status());
    make_gradient(
        id, bytes,
        [shards = std::move(shards), samples = std::move(samples),
         mean = std::move(*mean)](DeviceContext& device) mutable {
          weighted_rows(shards, samples, mean, device.pool());
          return Result(std::vector<Tensor>{std::move(mean.rows.values), std::move(mean.rows.indices)});
        });
  }

  /// Calls `make`, which returns the gradient for the rule and, if it is rows, their numbers, and continues with update(). If there
  /// are many bytes of gradients, another thread calls it.
  template <class Make>
  void make_gradient(GroupId id, size_t bytes, Make make) {
    if (bytes <= max_bytes_in_handler) return update(id, make(site_->device->context()));
    compute_soon(
        site_->node.scheduler, make_job([make = std::move(make), id, site = site_, self = self()]() mutable {
          Draft<wire::GradientMade> made;
          made->setRoundCell(id);
          auto gradient = make(site->device->context());
          if (!gradient) write(gradient.status(), made->initFailure());
          site->node.engine.send(self, made.finish(gradient ? std::move(*gradient) : std::vector<Tensor>()));
        }));
  }

  void made(const Message<wire::GradientMade>& message) {
    const GroupId id = message->getRoundCell();
    if (message->hasFailure()) return update(id, read(message->getFailure()));
    update(id, std::vector<Tensor>(message.attachments().begin(), message.attachments().end()));
  }

  /// Applies the rule to the values that the first shard pushed, with this gradient in place of its own, and counts the round, both
  /// at once.
  void update(GroupId id, Result<std::vector<Tensor>> gradient) {
    if (!gradient) return finish(id, gradient.status());
    ReplicaGroup& group = groups_.at(id);
    const Push& first = group.first();
    auto cells = vector_of<uint32_t>(first->getCells());
    cells.push_back(id);
    const auto owner = VariableService::of(*site_).groups().owner(cells);
    if (!owner) return finish(id, owner.status());
    group.rule_number = rules_.add(group.rule());
    Draft<wire::Update> draft;
    draft->setStep(first->getStep());
    draft->setRule(group.rule_number);
    draft->setCells(first->getCells());
    draft->setCounter(id);
    draft->setCount(static_cast<int64_t>(group.round()));
    ask(*owner, draft.finish(group.rule_values(std::move(*gradient))),
        [this, id](const Result<AnyMessage>& updated) {
          ReplicaGroup& applied = groups_.at(id);
          rules_.remove(std::exchange(applied.rule_number, 0));
          finish(id, updated.status());
        });
  }

  void finish(GroupId id, const Status& status) {
    auto extracted = groups_.extract(id);
    ReplicaGroup& group = extracted.mapped();
    if (group.committing) --service_.committing;
    const Result<AnyMessage> answer =
        status.ok() ? Result(committed(group.round())) : Result<AnyMessage>(status);
    group.answer(answer);
    const auto reached = [&](GroupId counter, const AwaitingStep& waiting) {
      return counter == id && waiting.round <= group.round();
    };
    if (status.ok()) answer_awaiting(reached, answer);
    auto followers = followers_.extract(id);
    if (followers.empty()) return;
    for (const GroupId follower : followers.mapped()) {
      const auto at = groups_.find(follower);
      if (at == groups_.end() || !at->second.complete || at->second.committing) continue;
      status.ok() ? complete(follower, at->second) : finish(follower, status);
    }
  }

  static AnyMessage committed(uint64_t round) {
    Draft<wire::Committed> draft;
    draft->setRound(round);
    return draft.finish();
  }

  std::shared_ptr<DeviceSite> site_;
  ReplicasService& service_;
  RuleTable& rules_;
  std::unordered_map<GroupId, ReplicaGroup> groups_;
  std::unordered_map<GroupId, std::vector<AwaitingStep>> awaiting_;  ///< by the counter
  /// By a group: the complete groups that wait for it.
  std::unordered_map<GroupId, std::vector<GroupId>> followers_;
  std::unordered_map<uint64_t, Followed> trainings_;
};

}  // namespace

ActorRef spawn_replicas(std::shared_ptr<DeviceSite> site) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<ReplicasRole>(std::move(site)));
}

}  // namespace troupe

#include "actors/services/replicas/replicas.h"

#include <algorithm>
#include <map>

#include "actors/services/replicas/replicas_service.h"
#include "kernels/loops/weighted_mean.h"
#include "kernels/loops/weighted_rows.h"
#include "messages/schemas/replicas.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

// A group, named by the variable that counts its rounds:
//
//          first push of the          all shards             the rule is applied,
//          next round                 have pushed            the round counted
//   idle -----------------> gathering --------> committing --------------------> idle: each push is answered Committed
//     ^                      |  ^  |                |
//     |   cancelled, and no  |  +--+ push, cancel   | failed: each push is answered with the failure; nothing was applied
//     +----- push is left ---+                      |
//     +---------------------------------------------+

namespace troupe {
namespace {

/// More bytes of gradients are averaged outside the handler.
constexpr size_t max_bytes_in_handler = 64 << 10;

using Push = Message<wire::PushGradient>;

/// A push that is answered when the round has been applied.
struct Waiting {
  uint32_t shard = 0;
  StepKey step;
  Reply reply;
};

/// The round of a group that is being gathered or committed.
struct Group {
  std::string name;  ///< the name of the variable that counts the rounds
  uint64_t round = 0;
  std::map<uint32_t, Push> pushes;  ///< by shard
  std::vector<Waiting> waiting;
  std::shared_ptr<const UpdateRule> rule;
  /// The rule's number while it is being applied. The numbers in the pushes may become invalid with their partitions.
  uint64_t rule_number = 0;
  bool committing = false;

  const Push& first() const { return pushes.begin()->second; }
};

Tensor gradient_of(const Push& push) { return push.attachments()[static_cast<size_t>(push->getGradient())]; }

bool has_rows(const Push& push) { return push->getIndices() >= 0; }

TensorRows rows_of(const Push& push) {
  return {gradient_of(push), push.attachments()[static_cast<size_t>(push->getIndices())]};
}

/// Returns whether the gradients of two pushes have one dtype and one shape, or the shape of their rows is the same.
bool are_alike(const Push& push, const Tensor& ours, const Tensor& theirs) {
  if (ours.dtype() != theirs.dtype()) return false;
  if (!has_rows(push)) return ours.shape() == theirs.shape();
  const auto a = ours.shape().dims(), b = theirs.shape().dims();
  return !a.empty() && a.size() == b.size() && std::ranges::equal(a.subspan(1), b.subspan(1));
}

class ReplicasRole final : public Role {
 public:
  explicit ReplicasRole(std::shared_ptr<DeviceSite> site)
      : site_(std::move(site)), service_(ReplicasService::of(*site_)),
        rules_(VariableService::of(*site_).rules()) {
    on<wire::PushGradient>([this](const auto& message, Reply reply) { push(message, std::move(reply)); });
    on<wire::CancelPushes>([this](const auto& message, Reply) {
      cancel({message->getStep().getSession(), message->getStep().getOrdinal(), 0});
    });
    on<wire::MeanComputed>([this](const auto& message, Reply) {
      if (groups_.contains(message->getRoundCell()))
        update(message->getRoundCell(), {message.attachments().begin(), message.attachments().end()});
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
    const auto counter = site_->state->at(message->getRoundCell());
    if (!counter)
      return reply(not_found("no variable has number " + std::to_string(message->getRoundCell())));
    Snapshot snapshot;
    if (counter->try_read(snapshot) == StateCell::Reading::Busy)
      return push_later(*counter, message, std::move(reply));
    const auto applied = rounds_in(*counter, snapshot.value);
    if (!applied) return reply(applied.status());
    const uint64_t round = message->getRound();
    if (round <= *applied) return reply(committed(*applied));
    if (round != *applied + 1)
      return reply(aborted("round " + std::to_string(round) + " was pushed for '" + counter->name() +
                           "', but the next round is " + std::to_string(*applied + 1)));
    auto group = prepare_group(message, counter->name());
    if (!group) return reply(group.status());
    join(**group, message, std::move(reply));
  }

  /// The counter is being changed: its owner answers a Read when the change is done.
  void push_later(StateCell& counter, const Push& message, Reply reply) {
    const auto owner = site_->owner(counter);
    if (!owner) return reply(owner.status());
    Draft<wire::Read> draft;
    draft->setStep(message->getStep());
    draft->initCells(1).set(0, message->getRoundCell());
    auto kept = std::make_shared<Reply>(std::move(reply));
    ask(*owner, draft.finish(), [this, message, kept](const Result<AnyMessage>& read) {
      if (!read) return (*kept)(read.status());
      push(message, std::move(*kept));
    });
  }

  static Result<uint64_t> rounds_in(const StateCell& counter, const Tensor& value) {
    if (!value.valid())
      return failed_precondition("the variable '" + counter.name() + "' is not initialised");
    if (value.dtype() != DType::Int64 || value.elements() != 1 || value.as<int64_t>()[0] < 0)
      return invalid_argument("the variable '" + counter.name() + "' cannot count rounds: it is " +
                              value.signature() + ", but must be one int64 that is not negative");
    return static_cast<uint64_t>(value.as<int64_t>()[0]);
  }

  /// Returns the group that gathers the round of this push, after checking that the push agrees with the earlier ones.
  Result<Group*> prepare_group(const Push& message, const std::string& name) {
    const auto rule = rules_.find(message->getRule());
    if (!rule) return not_found("no update rule has number " + std::to_string(message->getRule()));
    TROUPE_RETURN_IF_FAILED(check(message));
    const GroupId id = message->getRoundCell();
    const uint64_t round = message->getRound();
    if (const auto at = groups_.find(id); at != groups_.end()) {
      if (at->second.round == round) {
        TROUPE_RETURN_IF_FAILED(check_against(at->second, message, *rule));
        return &at->second;
      }
      const Status changed = aborted("the round counter '" + name + "' was changed while round " +
                                     std::to_string(at->second.round) + " was being gathered");
      if (at->second.committing) return changed;
      finish(id, changed);
    }
    Group& group = groups_[id];
    group.name = name;
    group.round = round;
    group.rule = rule;
    return &group;
  }

  static Status check(const Push& message) {
    const int64_t gradient = message->getGradient(), indices = message->getIndices();
    const auto values = static_cast<int64_t>(message.attachments().size());
    if (message->getShard() >= message->getShards() || message->getSamples() < 0 || gradient < -1 ||
        gradient >= values || indices < -1 || indices >= values || (indices >= 0 && gradient < 0))
      return invalid_argument(
          "shard " + std::to_string(message->getShard()) + " of " + std::to_string(message->getShards()) +
          " pushed " + std::to_string(message->getSamples()) + " samples, gradient " +
          std::to_string(gradient) + " of " + std::to_string(message.attachments().size()) + " values");
    return {};
  }

  static Status check_against(const Group& group, const Push& message, const UpdateRule& rule) {
    const Push& first = group.first();
    const auto refuse = [&](const std::string& what, const std::string& ours, const std::string& theirs) {
      return invalid_argument("shard " + std::to_string(message->getShard()) + " of worker " +
                              std::to_string(message->getWorker()) + " pushed to '" + group.name + "' with " +
                              what + " " + ours + ", shard " + std::to_string(first->getShard()) +
                              " of worker " + std::to_string(first->getWorker()) + " with " + theirs);
    };
    if (message->getShards() != first->getShards())
      return refuse("shards", std::to_string(message->getShards()), std::to_string(first->getShards()));
    const auto cells = [](const Push& push) { return vector_of<uint32_t>(push->getCells()); };
    if (rule.node->op != group.rule->node->op || !(rule.node->attrs == group.rule->node->attrs) ||
        cells(message) != cells(first) || message->getGradient() != first->getGradient() ||
        message->getIndices() != first->getIndices() ||
        message.attachments().size() != first.attachments().size())
      return refuse("the rule", rule.node->type(),
                    group.rule->node->type() + " on other variables or with other attributes");
    if (message->getGradient() < 0) return {};
    const Tensor &ours = gradient_of(message), &theirs = gradient_of(first);
    if (are_alike(message, ours, theirs)) return {};
    return refuse("a gradient", ours.signature(), theirs.signature());
  }

  void join(Group& group, const Push& message, Reply reply) {
    group.pushes.emplace(message->getShard(), message);  // has no effect if the shard has pushed already
    group.waiting.push_back({message->getShard(),
                             {message->getStep().getSession(), message->getStep().getOrdinal(), 0},
                             std::move(reply)});
    if (!group.committing && group.pushes.size() == message->getShards())
      commit(message->getRoundCell(), group);
  }

  void cancel(const StepKey& step) {
    for (auto at = groups_.begin(); at != groups_.end();) {
      Group& group = at->second;
      if (!group.committing) withdraw(group, step);
      at = group.pushes.empty() ? groups_.erase(at) : std::next(at);
    }
  }

  static void withdraw(Group& group, const StepKey& step) {
    const auto ended = std::stable_partition(group.waiting.begin(), group.waiting.end(),
                                             [&](const Waiting& waiting) { return waiting.step != step; });
    for (auto waiting = ended; waiting != group.waiting.end(); ++waiting)
      waiting->reply(cancelled("the step ended before all shards of '" + group.name + "' had pushed"));
    group.waiting.erase(ended, group.waiting.end());
    std::erase_if(group.pushes, [&](const auto& push) {
      return std::ranges::none_of(group.waiting,
                                  [&](const Waiting& waiting) { return waiting.shard == push.first; });
    });
  }

  // ---- Committing

  void commit(GroupId id, Group& group) {
    group.committing = true;
    ++service_.committing;
    if (group.first()->getGradient() < 0) return update(id, {});
    has_rows(group.first()) ? average_rows(id, group) : average(id, group);
  }

  static std::vector<int64_t> samples_of(const Group& group) {
    std::vector<int64_t> samples;
    for (const auto& [shard, push] : group.pushes) samples.push_back(push->getSamples());
    return samples;
  }

  void average(GroupId id, const Group& group) {
    std::vector<Tensor> gradients;
    for (const auto& [shard, push] : group.pushes) gradients.push_back(gradient_of(push));
    auto samples = samples_of(group);
    auto mean = allocate_mean(gradients, samples, site_->device->context().memory());
    if (!mean) return finish(id, mean.status());
    const size_t bytes = mean->bytes() * gradients.size();
    compute_mean(id, bytes,
                 [gradients = std::move(gradients), samples = std::move(samples),
                  mean = std::move(*mean)](Pool& pool) mutable {
                   weighted_mean(gradients, samples, mean, pool);
                   return std::vector<Tensor>{std::move(mean)};
                 });
  }

  void average_rows(GroupId id, const Group& group) {
    std::vector<TensorRows> shards;
    size_t bytes = 0;
    for (const auto& [shard, push] : group.pushes) {
      shards.push_back(rows_of(push));
      bytes += shards.back().values.bytes();
    }
    auto samples = samples_of(group);
    auto mean = allocate_rows_mean(shards, samples, site_->device->context().memory());
    if (!mean) return finish(id, mean.status());
    compute_mean(id, bytes,
                 [shards = std::move(shards), samples = std::move(samples),
                  mean = std::move(*mean)](Pool& pool) mutable {
                   weighted_rows(shards, samples, mean, pool);
                   return std::vector<Tensor>{std::move(mean.rows.values), std::move(mean.rows.indices)};
                 });
  }

  /// Calls `compute`, which returns the mean and, if it is rows, their numbers, and continues with update(). If there are many
  /// bytes of gradients, another thread calls it.
  template <class Compute>
  void compute_mean(GroupId id, size_t bytes, Compute compute) {
    Pool& pool = site_->device->context().pool();
    if (bytes <= max_bytes_in_handler) return update(id, compute(pool));
    compute_soon(site_->node.scheduler,
                 make_job([compute = std::move(compute), id, site = site_, self = self(), &pool]() mutable {
                   Draft<wire::MeanComputed> computed;
                   computed->setRoundCell(id);
                   site->node.engine.send(self, computed.finish(compute(pool)));
                 }));
  }

  /// Applies the rule to the values that shard 0 pushed, with the mean in place of the gradient and, if it is rows, its numbers.
  void update(GroupId id, std::vector<Tensor> mean) {
    Group& group = groups_.at(id);
    const Push& first = group.first();
    const auto owner = VariableService::of(*site_).groups().owner(first->getCells());
    if (!owner) return finish(id, owner.status());
    std::vector<Tensor> values(first.attachments().begin(), first.attachments().end());
    if (!mean.empty()) values[static_cast<size_t>(first->getGradient())] = std::move(mean[0]);
    if (mean.size() > 1) values[static_cast<size_t>(first->getIndices())] = std::move(mean[1]);
    group.rule_number = rules_.add(group.rule);
    Draft<wire::Update> draft;
    draft->setStep(first->getStep());
    draft->setRule(group.rule_number);
    draft->setCells(first->getCells());
    ask(*owner, draft.finish(std::move(values)), [this, id](const Result<AnyMessage>& updated) {
      Group& applied = groups_.at(id);
      rules_.remove(std::exchange(applied.rule_number, 0));
      if (!updated) return finish(id, updated.status());
      count(id, applied);
    });
  }

  void count(GroupId id, const Group& group) {
    const auto counter = site_->state->at(id);
    if (!counter) return finish(id, not_found("the variable '" + group.name + "' was dropped"));
    const auto owner = site_->owner(*counter);
    if (!owner) return finish(id, owner.status());
    Draft<wire::Assign> draft;
    draft->initCells(1).set(0, id);
    ask(*owner, draft.finish({Tensor::scalar(static_cast<int64_t>(group.round))}),
        [this, id](const Result<AnyMessage>& assigned) { finish(id, assigned.status()); });
  }

  void finish(GroupId id, const Status& status) {
    const auto group = groups_.extract(id);
    if (group.mapped().committing) --service_.committing;
    for (Waiting& waiting : group.mapped().waiting) {
      if (status.ok())
        waiting.reply(committed(group.mapped().round));
      else
        waiting.reply(status);
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
  std::unordered_map<GroupId, Group> groups_;
};

}  // namespace

ActorRef spawn_replicas(std::shared_ptr<DeviceSite> site) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<ReplicasRole>(std::move(site)));
}

}  // namespace troupe

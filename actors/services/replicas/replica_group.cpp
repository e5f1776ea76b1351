#include "actors/services/replicas/replica_group.h"

#include <algorithm>

#include "messages/schemas/replicas.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

using Push = ReplicaGroup::Push;

PushingStep step_of(const Push& push) { return {push->getStep().getSession(), push->getStep().getOrdinal()}; }

Tensor gradient_of(const Push& push) { return push.attachments()[static_cast<size_t>(push->getGradient())]; }

/// Returns whether the gradients of two pushes have one dtype and one shape, or the shape of their rows is the same.
bool are_alike(const Push& push, const Tensor& ours, const Tensor& theirs) {
  if (ours.dtype() != theirs.dtype()) return false;
  if (push->getIndices() < 0) return ours.shape() == theirs.shape();
  const auto a = ours.shape().dims(), b = theirs.shape().dims();
  return !a.empty() && a.size() == b.size() && std::ranges::equal(a.subspan(1), b.subspan(1));
}

}  // namespace

ReplicaGroup::ReplicaGroup(std::string name, const Push& push, std::shared_ptr<const UpdateRule> update_rule)
    : name_(std::move(name)), round_(push->getRound()), training_(push->getTraining()),
      rule_(std::move(update_rule)) {}

bool ReplicaGroup::has_all() const { return pushes_.size() == first()->getShards(); }
bool ReplicaGroup::has_gradient() const { return first()->getGradient() >= 0; }
bool ReplicaGroup::has_rows() const { return first()->getIndices() >= 0; }

Status ReplicaGroup::check(const Push& push) {
  const int64_t gradient = push->getGradient(), indices = push->getIndices();
  const auto values = static_cast<int64_t>(push.attachments().size());
  if (push->getShard() >= push->getShards() || push->getSamples() < 0 || gradient < -1 ||
      gradient >= values || indices < -1 || indices >= values || (indices >= 0 && gradient < 0))
    return invalid_argument(
        "shard " + std::to_string(push->getShard()) + " of " + std::to_string(push->getShards()) +
        " pushed " + std::to_string(push->getSamples()) + " samples, gradient " + std::to_string(gradient) +
        " of " + std::to_string(push.attachments().size()) + " values");
  if (!push->getWait() && push->getTraining() == 0)
    return invalid_argument("a push that does not wait for its round must belong to a training");
  return {};
}

Status ReplicaGroup::check_against_first(const Push& push, const UpdateRule& rule) const {
  if (empty()) return {};
  const Push& other = first();
  const auto refuse = [&](const std::string& what, const std::string& ours, const std::string& theirs) {
    return invalid_argument("shard " + std::to_string(push->getShard()) + " of worker " +
                            std::to_string(push->getWorker()) + " pushed to '" + name_ + "' with " + what +
                            " " + ours + ", shard " + std::to_string(other->getShard()) + " of worker " +
                            std::to_string(other->getWorker()) + " with " + theirs);
  };
  if (push->getShards() != other->getShards())
    return refuse("shards", std::to_string(push->getShards()), std::to_string(other->getShards()));
  const auto cells = [](const Push& of) { return vector_of<uint32_t>(of->getCells()); };
  if (rule.node->op != rule_->node->op || !(rule.node->attrs == rule_->node->attrs) ||
      cells(push) != cells(other) || push->getGradient() != other->getGradient() ||
      push->getIndices() != other->getIndices() || push.attachments().size() != other.attachments().size())
    return refuse("the rule", rule.node->type(),
                  rule_->node->type() + " on other variables or with other attributes");
  const auto combination = [](const UpdateRule& of) {
    return of.combination ? "'" + of.combination->function().name + "'" : std::string("none");
  };
  if (combination(rule) != combination(*rule_))
    return refuse("the combining function", combination(rule), combination(*rule_));
  if (push->getGradient() < 0) return {};
  const Tensor &ours = gradient_of(push), &theirs = gradient_of(other);
  if (are_alike(push, ours, theirs)) return {};
  return refuse("a gradient", ours.signature(), theirs.signature());
}

bool ReplicaGroup::keep(const Push& push) {
  return !complete && pushes_.emplace(push->getShard(), push).second;
}

void ReplicaGroup::wait(const Push& push, Reply reply) {
  waiting_.push_back({push->getShard(), step_of(push), std::move(reply)});
}

void ReplicaGroup::cancel(const PushingStep& step) {
  const auto ended = std::stable_partition(waiting_.begin(), waiting_.end(),
                                           [&](const Waiting& waiting) { return waiting.step != step; });
  for (auto waiting = ended; waiting != waiting_.end(); ++waiting)
    waiting->reply(cancelled("the step ended before all shards of '" + name_ + "' had pushed"));
  waiting_.erase(ended, waiting_.end());
  if (training_ != 0) return;
  std::erase_if(pushes_, [&](const auto& push) {
    return std::ranges::none_of(waiting_,
                                [&](const Waiting& waiting) { return waiting.shard == push.first; });
  });
}

Status ReplicaGroup::keep_only(std::span<const uint32_t> shards) {
  std::erase_if(pushes_, [&](const auto& push) { return !std::ranges::binary_search(shards, push.first); });
  if (pushes_.size() == shards.size() && !pushes_.empty()) return {};
  return internal("round " + std::to_string(round_) + " of '" + name_ + "' was fixed with " +
                  std::to_string(shards.size()) + " shards, of which " + std::to_string(pushes_.size()) +
                  " had pushed");
}

void ReplicaGroup::answer(const Result<AnyMessage>& outcome) {
  for (Waiting& waiting : waiting_) waiting.reply(outcome);
  waiting_.clear();
}

std::vector<Tensor> ReplicaGroup::gradients() const {
  std::vector<Tensor> all;
  for (const auto& [shard, push] : pushes_) all.push_back(gradient_of(push));
  return all;
}

std::vector<TensorRows> ReplicaGroup::rows() const {
  std::vector<TensorRows> all;
  for (const auto& [shard, push] : pushes_)
    all.push_back({gradient_of(push), push.attachments()[static_cast<size_t>(push->getIndices())]});
  return all;
}

std::vector<int64_t> ReplicaGroup::samples() const {
  std::vector<int64_t> all;
  for (const auto& [shard, push] : pushes_) all.push_back(push->getSamples());
  return all;
}

std::vector<Tensor> ReplicaGroup::rule_values(std::vector<Tensor> gradient) const {
  std::vector<Tensor> values(first().attachments().begin(), first().attachments().end());
  if (!gradient.empty()) values[static_cast<size_t>(first()->getGradient())] = std::move(gradient[0]);
  if (gradient.size() > 1) values[static_cast<size_t>(first()->getIndices())] = std::move(gradient[1]);
  return values;
}

}  // namespace troupe

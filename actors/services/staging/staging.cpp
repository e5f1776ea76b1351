#include "actors/services/staging/staging.h"

#include <deque>

#include "actors/services/staging/staging_role.h"
#include "messages/schemas/staging.capnp.h"
#include "messages/wire/wire.h"

// A put:   arrives --> waits --> first of its line, room for it --> answered
// A take:  arrives --> waits --> there is a tuple --------------> answered
//                        +-----> answered Cancelled, as a put that waits is

namespace troupe {
namespace {

/// A stage: tuples in the order in which they came.
class StageRole final : public StagingRole {
 public:
  StageRole(ActorNode& node, const StagingSpec& spec) : StagingRole(node, spec) {
    on<wire::StageTuple>([this](const auto& message, Reply reply) {
      auto put = waiting<WaitingPut>(*message, std::move(reply));
      put.limits = {message->getLimits().getTuples(), message->getLimits().getBytes()};
      add(std::move(put), message);
    });
    on<wire::TakeTuple>([this](const auto& message, Reply reply) {
      auto take = waiting<WaitingTake>(*message, std::move(reply));
      take.types = vector_of<uint32_t>(message->getTypes());
      take.peek = message->getPeek();
      take.index = message->getIndex();
      add(std::move(take));
    });
  }

 private:
  Progress try_put(WaitingPut& put) override {
    if (!has_room(put, tuples_.size())) return Progress::None;
    bytes_ += put.bytes;
    tuples_.push_back(std::move(put.tensors));
    return staged(put);
  }

  Progress try_take(WaitingTake& take) override {
    const uint64_t index = take.peek ? take.index : 0;
    if (index >= tuples_.size()) return Progress::None;
    std::vector<Tensor>& tuple = tuples_[index];
    std::vector<const Tensor*> tensors;
    for (const Tensor& tensor : tuple) tensors.push_back(&tensor);
    if (Status status = check_types(take, tensors); !status.ok()) return refuse(take, std::move(status));
    if (take.peek) return give(take, tuple);
    std::vector<Tensor> taken = std::move(tuple);
    tuples_.pop_front();
    bytes_ -= bytes_of(taken);
    return give(take, std::move(taken));
  }

  void clear() override { tuples_.clear(); }
  uint64_t complete() const override { return tuples_.size(); }
  bool keeps_order() const override { return true; }

  std::deque<std::vector<Tensor>> tuples_;
};

}  // namespace

std::unique_ptr<Role> make_staging(ActorNode& node, const StagingSpec& spec) {
  if (spec.kind != StagingKind::Stage) return make_staging_map(node, spec);
  return std::make_unique<StageRole>(node, spec);
}

}  // namespace troupe

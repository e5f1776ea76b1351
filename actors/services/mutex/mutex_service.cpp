#include "actors/services/mutex/mutex_service.h"

#include "actors/site/waiting_role.h"
#include "messages/schemas/mutex.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// MutexLock.
class LockNode final : public ServedNode {
 public:
  explicit LockNode(const StateActors<MutexSpec>& mutexes) : mutexes_(mutexes) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const auto mutex, mutexes_.find(request.inputs[0]));
    Draft<wire::LockMutex> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    return ServiceCall{mutex->actor.get(), draft.finish(), {}, true};
  }
  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    return {{}, {answer->attachments()[0]}, false};
  }
  AnyMessage cancellation(const StepInfo& step) const override { return cancellation_of(step); }

 private:
  const StateActors<MutexSpec>& mutexes_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> MutexService::prepare(const std::shared_ptr<const Graph>&,
                                                                const Node& node) {
  if (node.type() != "MutexLock") return unimplemented("the mutex service does not know this op");
  return std::unique_ptr<const ServedNode>(new LockNode(states_));
}

Status MutexService::open(const Node&, const std::shared_ptr<StateCell>& cell) {
  return states_.open(cell, MutexSpec{cell->name()},
                      [&](const MutexSpec& spec) { return make_mutex(site_.node, spec); });
}

}  // namespace troupe

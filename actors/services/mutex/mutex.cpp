#include "actors/services/mutex/mutex.h"

#include <mutex>

#include "actors/site/waiting_role.h"
#include "kernels/core/lock_value.h"
#include "messages/schemas/mutex.capnp.h"

// A request:  arrives --> waits --> first of the line, nobody holds the lock --> answered with the lock
//                           +--> answered Cancelled
//
// A lock goes with the last tensor that has it, on any thread. Its destructor sends UnlockMutex, after which the next one is
// answered.

namespace troupe {
namespace {

/// The way on which locks come back to their actor. A lock may outlive the actor, which then ends the way. Any thread.
class ReturnPath {
 public:
  ReturnPath(Engine& engine, ActorRef mutex) : engine_(&engine), mutex_(std::move(mutex)) {}

  void release(uint64_t lock) {
    Draft<wire::UnlockMutex> unlock;
    unlock->setLock(lock);
    const std::lock_guard guard(lock_);
    if (engine_) engine_->send(mutex_, unlock.finish());
  }
  void end() {
    const std::lock_guard guard(lock_);
    engine_ = nullptr;
    mutex_ = {};
  }

 private:
  std::mutex lock_;
  Engine* engine_;  ///< null when the actor has ended
  ActorRef mutex_;
};

class MutexRole final : public WaitingRole {
 public:
  MutexRole(ActorNode& node, const MutexSpec& spec) : WaitingRole(node, "mutex '" + spec.name + "'") {
    on<wire::LockMutex>([this](const auto& message, Reply reply) {
      line_.push_back(waiting<WaitingRequest>(*message, std::move(reply)));
      advance();
    });
    on<wire::UnlockMutex>([this](const auto& message, Reply) {
      if (message->getLock() == held_) held_ = 0;
      advance();
    });
  }

 private:
  void started() override { returns_ = std::make_shared<ReturnPath>(engine(), self()); }
  void stopping() override { returns_->end(); }

  void advance() {
    line_.advance([this](WaitingRequest& request) { return give_lock(request); },
                  [](const WaitingRequest&) {});
  }

  Progress give_lock(WaitingRequest& request) {
    if (held_ != 0) return Progress::None;
    auto lock = make_lock(request.number);
    if (lock) held_ = request.number;
    request.reply(lock ? Result<AnyMessage>(Draft<wire::MutexLocked>().finish({std::move(*lock)}))
                       : lock.status());
    return Progress::Complete;
  }

  Result<Tensor> make_lock(uint64_t number) {
    TROUPE_ASSIGN(Tensor lock, Tensor::allocate(DType::Variant, Shape{}));
    lock.write<Variant>()[0] =
        std::make_unique<LockValue>([returns = returns_, number] { returns->release(number); });
    return lock;
  }

  void end_waiting(const Concerned& concerned, const Status& reason) override {
    line_.remove(concerned, [&](WaitingRequest& request) { finish(request, reason); });
  }

  std::shared_ptr<ReturnPath> returns_;
  WaitingLine<WaitingRequest> line_;
  uint64_t held_ = 0;  ///< the number of the request that has the lock; 0 if nobody holds it
};

}  // namespace

std::unique_ptr<Role> make_mutex(ActorNode& node, const MutexSpec& spec) {
  return std::make_unique<MutexRole>(node, spec);
}

}  // namespace troupe

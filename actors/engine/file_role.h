// FileRole: a role that works with files. Handlers never block, so the work runs on a file thread, and the role continues in its
// actor when the work is done. Message: FilesDone in messages/schemas/files.capnp.
#pragma once

#include "actors/engine/node.h"

namespace troupe {

class FileRole : public Role {
 protected:
  explicit FileRole(ActorNode& node);

  /// Runs `work` on the file thread, then calls `then` in this actor with its result. If the actor ends meanwhile, `then` is not
  /// called.
  template <class T>
  void block(std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    start<T>(&Scheduler::block, std::move(work), std::move(then));
  }
  /// Does the same for work that may last, and for which no step waits.
  template <class T>
  void block_in_background(std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    start<T>(&Scheduler::block_in_background, std::move(work), std::move(then));
  }

  ActorNode& node_;

 private:
  using Run = void (Scheduler::*)(Job);

  template <class T>
  void start(Run run_job, std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    auto result = std::make_shared<Result<T>>(internal("the work with files threw an exception"));
    run(
        run_job, [result, work = std::move(work)] { *result = work(); },
        [result, then = std::move(then)] { then(std::move(*result)); });
  }
  void run(Run run_job, std::function<void()> work, std::function<void()> then);

  std::unordered_map<uint64_t, std::function<void()>> jobs_;
  uint64_t last_job_ = 0;
};

}  // namespace troupe

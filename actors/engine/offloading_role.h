// OffloadingRole: a role that has work which may last longer than a handler. Computations run on the pool, work with files on the
// file threads; the role continues in its actor when the work is done.
#pragma once

#include "actors/engine/node.h"

namespace troupe {

class OffloadingRole : public Role {
 protected:
  explicit OffloadingRole(ActorNode& node) : node_(node) {}

  // Each of these runs `work` on another thread, then calls `then` in this actor with its result; with Internal if `work` throws.
  // If the actor ends meanwhile, `then` is not called.

  /// Runs a computation: on the pool, or on the thread that runs this actor if that thread may compute.
  template <class T>
  void compute(std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    start<T>([](Scheduler& scheduler, Job job) { compute_soon(scheduler, job); }, std::move(work),
             std::move(then));
  }
  /// Runs work with files on the file thread.
  template <class T>
  void block(std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    start<T>([](Scheduler& scheduler, Job job) { scheduler.block(job); }, std::move(work), std::move(then));
  }
  /// Runs work with files that may last, and for which no step waits.
  template <class T>
  void block_in_background(std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    start<T>([](Scheduler& scheduler, Job job) { scheduler.block_in_background(job); }, std::move(work),
             std::move(then));
  }

  ActorNode& node_;

 private:
  using Run = void (*)(Scheduler&, Job);

  template <class T>
  void start(Run run_job, std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    auto result = std::make_shared<Result<T>>(internal("the work was not done"));
    run(
        run_job, [result, work = std::move(work)] { *result = work(); },
        [result, then = std::move(then)](const Status& status) {
          then(status.ok() ? std::move(*result) : Result<T>(status));
        });
  }
  void run(Run run_job, std::function<void()> work, std::function<void(const Status&)> then);
};

}  // namespace troupe

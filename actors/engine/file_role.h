// FileRole: a role that works with files. Handlers never block, so the work runs on the file thread, and the role continues in its
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
    auto result = std::make_shared<Result<T>>(internal("the work with files threw an exception"));
    run([result, work = std::move(work)] { *result = work(); },
        [result, then = std::move(then)] { then(std::move(*result)); });
  }

  ActorNode& node_;

 private:
  void run(std::function<void()> work, std::function<void()> then);

  std::unordered_map<uint64_t, std::function<void()>> jobs_;
  uint64_t last_job_ = 0;
};

}  // namespace troupe

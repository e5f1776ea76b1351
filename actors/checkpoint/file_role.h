// FileRole: a role that works with files: not in its handlers, which never block, but on the file thread, and goes on in the actor
// when that is done. Message: FilesDone of messages/schemas/checkpoint.capnp.
#pragma once

#include "actors/engine/node.h"

namespace troupe {

class FileRole : public Role {
 protected:
  explicit FileRole(ActorNode& node);

  /// Runs `work` where it may block, then `then` with what it returned, in this actor; only the former when the actor has ended.
  template <class T>
  void block(std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    auto result = std::make_shared<Result<T>>(internal("work with files broke off"));
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

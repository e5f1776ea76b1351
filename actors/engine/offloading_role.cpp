#include "actors/engine/offloading_role.h"

namespace troupe {
namespace {

struct OffloadedWork {
  const ActorNode::KeepAlive keep_alive;  ///< the first member, so that it is destroyed last
  const std::function<void()> work;
  Reply done;

  OffloadedWork(ActorNode& node, std::function<void()> what, Reply reply)
      : keep_alive(node), work(std::move(what)), done(std::move(reply)) {}

  void run() {
    try {
      work();
      done(AnyMessage());
    } catch (const std::exception& thrown) {
      done(internal(std::string("the work of an actor threw an exception: ") + thrown.what()));
    }
  }
};

}  // namespace

void OffloadingRole::run(Run run_job, std::function<void()> work, std::function<void(const Status&)> then) {
  auto offloaded = std::make_shared<OffloadedWork>(
      node_, std::move(work),
      expect([then = std::move(then)](const Result<AnyMessage>& done) { then(done.status()); }));
  run_job(node_.scheduler, make_job([offloaded = std::move(offloaded)] { offloaded->run(); }));
}

}  // namespace troupe

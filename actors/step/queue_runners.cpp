#include "actors/step/queue_runners.h"

#include <algorithm>

#include "actors/step/preparing.h"
#include "messages/schemas/queue_runners.capnp.h"
#include "messages/schemas/session.capnp.h"

namespace troupe {
namespace {

/// Returns the number before the first call of a role. Calls of the session itself have smaller ones, and those of its other roles
/// are 2^40 apart.
uint64_t calls_before(uint32_t number) { return uint64_t{1} << 63 | uint64_t{number} << 40; }

/// A step that is run again and again.
struct Step {
  AnyMessage signature;
  bool enqueues = false;  ///< it is cancelled when the runners stop
  uint64_t handle = 0;    ///< 0: not prepared
  int preparations = 0;   ///< since it ran last
  uint64_t call = 0;      ///< that is running; 0: none
};

class QueueRunnersRole final : public Role {
 public:
  QueueRunnersRole(ActorRef master, uint32_t number, std::vector<QueueRunnerSteps> runners)
      : master_(std::move(master)), last_call_(calls_before(number)) {
    for (auto& runner : runners) runners_.push_back({std::move(runner)});
    on<wire::StopQueueRunners>([this](const auto&, Reply reply) {
      waiting_.push_back(std::move(reply));
      stop_all();
      answer_if_ended();
    });
  }

 private:
  struct Runner {
    QueueRunnerSteps steps;
    std::vector<std::shared_ptr<Step>> enqueue = {};
    size_t running = 0;  ///< how many of these have not ended
  };

  void started() override {
    for (Runner& runner : runners_) {
      runner.running = runner.steps.enqueue.size();
      for (const auto& signature : runner.steps.enqueue)
        runner.enqueue.push_back(std::make_shared<Step>(Step{signature, true}));
      for (const auto& step : runner.enqueue) enqueue(runner, step);
    }
  }

  void enqueue(Runner& runner, const std::shared_ptr<Step>& step) {
    run(step, [this, &runner, step](const Status& status) {
      if (status.ok() && !stopping_) return enqueue(runner, step);
      if (!status.ok() && !is_end(runner, status)) fail(status);
      if (--runner.running == 0 && !stopping_ && runner.steps.close) run_once(*runner.steps.close);
      answer_if_ended();
    });
  }

  bool is_end(const Runner& runner, const Status& status) const {
    return std::ranges::find(runner.steps.ends, status.code()) != runner.steps.ends.end() ||
           (stopping_ && status.code() == Code::Cancelled);
  }

  void run_once(const AnyMessage& signature) {
    run(std::make_shared<Step>(Step{signature}), [this](const Status& status) {
      if (!status.ok()) fail(status);
      answer_if_ended();
    });
  }

  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
    stop_all();
  }

  /// Lets no step begin again. Cancels the steps that enqueue, which may wait for anything: those that run now, and those that
  /// are being prepared as soon as they run (attempt). Runs the targets that the runners have for their end, so that others who
  /// wait for their queues do not wait for ever.
  void stop_all() {
    if (std::exchange(stopping_, true)) return;
    for (const Runner& runner : runners_) {
      for (const auto& step : runner.enqueue)
        if (step->call != 0) cancel(*step);
      if (runner.running > 0 && runner.steps.cancel) run_once(*runner.steps.cancel);
    }
  }

  void cancel(const Step& step) const {
    Draft<wire::CancelStep> draft;
    draft->setCall(step.call);
    tell(master_, draft.finish());
  }

  void answer_if_ended() {
    if (outstanding_ > 0 || !stopping_) return;
    for (Reply& reply : std::exchange(waiting_, {})) {
      if (failure_.ok())
        reply(Draft<wire::QueueRunnersEnded>().finish());
      else
        reply(failure_);
    }
  }

  /// Runs a step and calls `then` when it has ended.
  void run(const std::shared_ptr<Step>& step, std::function<void(const Status&)> then) {
    ++outstanding_;
    attempt(step, false, [this, step, then = std::move(then)](const Status& status) {
      --outstanding_;
      step->preparations = 0;
      then(status);
    });
  }

  void attempt(const std::shared_ptr<Step>& step, bool held, std::function<void(const Status&)> then) {
    if (step->handle == 0) return prepare(step, std::move(then));
    Draft<wire::RunStep> draft;
    draft->setHandle(step->handle);
    step->call = ++last_call_;
    draft->setCall(step->call);
    draft->setHeld(held);
    ask(master_, draft.finish(), [this, step, then = std::move(then)](const Result<AnyMessage>& done) {
      step->call = 0;
      if (!must_prepare_again(done.status()) || step->preparations == most_preparations)
        return then(done.status());
      prepare(step, then);  // the master has dropped the signature, or a worker has restarted
    });
    if (stopping_ && step->enqueues) cancel(*step);
  }

  void prepare(const std::shared_ptr<Step>& step, std::function<void(const Status&)> then) {
    ++step->preparations;
    ask(master_, step->signature, [this, step, then = std::move(then)](const Result<AnyMessage>& prepared) {
      if (!prepared) return then(prepared.status());
      step->handle = Message<wire::StepPrepared>(*prepared)->getHandle();
      attempt(step, true, then);
    });
  }

  const ActorRef master_;
  std::vector<Runner> runners_;  // of constant size, because steps refer to them
  std::vector<Reply> waiting_;
  Status failure_;
  bool stopping_ = false;
  size_t outstanding_ = 0;  ///< steps that have not ended
  uint64_t last_call_;
};

}  // namespace

ActorRef spawn_queue_runners(ActorNode& node, const ActorRef& master, uint32_t number,
                             std::vector<QueueRunnerSteps> runners) {
  return node.engine.spawn(std::make_unique<QueueRunnersRole>(master, number, std::move(runners)));
}

}  // namespace troupe

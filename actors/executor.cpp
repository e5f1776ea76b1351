#include "actors/executor.h"

#include <algorithm>
#include <map>

#include "actors/profile_wire.h"
#include "actors/running_step.h"
#include "messages/device.capnp.h"
#include "messages/executor.capnp.h"
#include "messages/wire.h"
#include "messages/worker.capnp.h"

namespace troupe {
namespace {

class ExecutorRole final : public Role {
 public:
  ExecutorRole(ActorNode& node, std::shared_ptr<ExecutorShared> shared)
      : node_(node), shared_(std::move(shared)) {
    on<wire::RunPartition>([this](const auto& message, Reply reply) { run(message, std::move(reply)); });
    on<wire::AbortStep>([this](const auto& message, Reply) { abort(message); });
    on<wire::TensorsArrived>([this](const auto& message, Reply) { arrived(message); });
    on<wire::TakeTensor>([this](const auto& message, Reply reply) {
      const auto step = steps_.find(message->getStep().getOrdinal());
      if (step == steps_.end()) return reply(aborted("the step that announced this tensor is over"));
      step->second->give(message, std::move(reply));
    });
  }

 private:
  void run(const Message<wire::RunPartition>& message, Reply reply) {
    const auto request = *message;
    raise_floor(request.getFloor());
    const uint64_t ordinal = request.getStep().getOrdinal();
    if (const auto refused = aborted_.find(ordinal); refused != aborted_.end()) return reply(refused->second);
    if (Status status = watch_peers(); !status.ok()) return reply(std::move(status));
    StepInfo info;
    info.session = shared_->options.session;
    info.ordinal = ordinal;
    info.seed = shared_->options.seed;
    info.training = request.getTraining();
    info.profiled = request.getProfile();
    info.round = request.getRound();
    auto feeds = take_feeds(message);
    if (!feeds) return reply(feeds.status());
    const auto step = std::make_shared<PartitionStep>(shared_, info, std::move(*feeds));
    steps_[ordinal] = step;
    if (const auto early = early_.find(ordinal); early != early_.end()) {
      for (const auto& tensors : early->second) step->tensors_arrived(tensors);
      early_.erase(early);
    }
    execute(ordinal, step, std::move(reply));
  }

  Result<std::vector<Tensor>> take_feeds(const Message<wire::RunPartition>& message) const {
    const auto positions = vector_of<uint32_t>(message->getPositions());
    std::vector<Tensor> feeds;
    for (const uint32_t position : shared_->options.feeds) {
      const auto at = std::find(positions.begin(), positions.end(), position);
      const auto index = positions.empty() ? position : static_cast<uint32_t>(at - positions.begin());
      TROUPE_ASSIGN(Tensor feed, message.attachment(index));
      feeds.push_back(std::move(feed));
    }
    TROUPE_RETURN_IF_FAILED(shared_->options.plan->plan().check_feeds(feeds));
    return feeds;
  }

  void execute(uint64_t ordinal, const std::shared_ptr<PartitionStep>& step, Reply reply) {
    const StepKey key{shared_->options.session, ordinal, shared_->options.partition};
    shared_->options.site->put_step(key, step);
    Draft<wire::ExecuteStep> draft;
    draft->initStep().setSession(key.session);
    draft->getStep().setOrdinal(ordinal);
    draft->setPartition(key.partition);
    auto kept = std::make_shared<Reply>(std::move(reply));
    ask(shared_->options.site->device_actor.get(), draft.finish(),
        [this, ordinal, kept](Result<AnyMessage> executed) {
          const auto over = std::move(steps_.extract(ordinal).mapped());
          if (!executed) return (*kept)(executed.status());
          Draft<wire::PartitionDone> done;
          done->initStep().setSession(shared_->options.session);
          done->getStep().setOrdinal(ordinal);
          const auto& positions = shared_->options.fetches;
          auto list = done->initPositions(static_cast<uint32_t>(positions.size()));
          for (uint32_t i = 0; i < positions.size(); ++i) list.set(i, positions[i]);
          if (over->info().profiled) write(over->profile(), *shared_->options.plan, done->initProfile(1)[0]);
          const auto fetched = executed->attachments();
          (*kept)(done.finish({fetched.begin(), fetched.end()}));
        });
  }

  void arrived(const Message<wire::TensorsArrived>& message) {
    const uint64_t ordinal = message->getStep().getOrdinal();
    if (const auto step = steps_.find(ordinal); step != steps_.end())
      step->second->tensors_arrived(message);
    else if (ordinal >= floor_ && !aborted_.contains(ordinal))
      early_[ordinal].push_back(message);
  }

  void abort(const Message<wire::AbortStep>& message) {
    const uint64_t ordinal = message->getStep().getOrdinal();
    Status reason = read(message->getReason());
    if (const auto step = steps_.find(ordinal); step != steps_.end())
      step->second->cancel(std::move(reason));
    else if (ordinal >= floor_)
      aborted_.emplace(ordinal, std::move(reason));
  }

  /// Only when a step runs are all executors of the partition known to be there.
  Status watch_peers() {
    if (peers_watched_) return {};
    for (const auto& [device, address] : shared_->options.executors) {
      TROUPE_ASSIGN(const ActorRef peer, node_.directory.find(address));
      if (peer != self())
        watch(peer, [this, name = device](const Status& reason) { peer_lost(name, reason); });
    }
    peers_watched_ = true;
    return {};
  }

  /// What it has sent and will not send again may be lost: no step that runs can end well. Those that have not begun here yet are
  /// the master's to end.
  void peer_lost(const std::string& device, const Status& reason) {
    peers_watched_ = false;
    const Status lost = unavailable("the executor on " + device +
                                    (reason.ok() ? " has ended" : " is lost: " + reason.text()));
    cancel_all(lost);
    Draft<wire::PartitionBroken> draft;
    draft->setPartition(shared_->options.partition);
    write(lost, draft->initReason());
    tell(shared_->options.master, draft.finish());
  }

  void cancel_all(const Status& reason) {
    for (const auto& [ordinal, step] : std::map(steps_)) step->cancel(reason);
  }

  void stopping() override { cancel_all(unavailable("the executor has ended")); }

  /// Every step below is over: whatever is kept for one goes.
  void raise_floor(uint64_t floor) {
    if (floor <= floor_) return;
    floor_ = floor;
    early_.erase(early_.begin(), early_.lower_bound(floor));
    aborted_.erase(aborted_.begin(), aborted_.lower_bound(floor));
  }

  ActorNode& node_;
  std::shared_ptr<ExecutorShared> shared_;
  std::map<uint64_t, std::shared_ptr<PartitionStep>> steps_;              ///< running, by ordinal
  std::map<uint64_t, std::vector<Message<wire::TensorsArrived>>> early_;  ///< for steps not begun here yet
  std::map<uint64_t, Status> aborted_;                                    ///< before they began here
  uint64_t floor_ = 0;
  bool peers_watched_ = false;
};

}  // namespace

Result<ActorRef> spawn_executor(ActorNode& node, ExecutorOptions options) {
  auto shared = std::make_shared<ExecutorShared>(std::move(options));
  if (!shared->status.ok()) return shared->status;
  return node.engine.spawn(std::make_unique<ExecutorRole>(node, std::move(shared)));
}

}  // namespace troupe

#include "actors/step/executor.h"

#include <algorithm>
#include <map>
#include <optional>

#include "actors/step/profile_wire.h"
#include "actors/step/running_step.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/limits.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

class ExecutorRole final : public Role {
 public:
  ExecutorRole(ActorNode& node, std::shared_ptr<ExecutorShared> shared)
      : node_(node), shared_(std::move(shared)) {
    on<wire::RunPartition>([this](const auto& message, Reply reply) { run(message, std::move(reply)); });
    on<wire::AbortStep>([this](const auto& message, Reply) { abort(message); });
    on<wire::TensorsArrived>([this](const auto& message, Reply) { arrived(message); });
    on<wire::FindTokens>([this](const auto& message, Reply reply) { find_tokens(message, reply); });
    on<wire::LookAround>([this](const auto&, Reply) { look_around(); });
    on<wire::TakeTensor>([this](const auto& message, Reply reply) {
      const auto step = steps_.find(message->getStep().getOrdinal());
      if (step == steps_.end()) return reply(aborted("the step that announced this tensor is over"));
      step->second->give(message, std::move(reply));
    });
  }

 private:
  void run(const Message<wire::RunPartition>& message, Reply reply) {
    const auto request = *message;
    const uint64_t ordinal = request.getStep().getOrdinal();
    if (Status status = may_begin(ordinal, request.getFloor()); !status.ok()) {
      node_.strays.fetch_add(1, std::memory_order_relaxed);
      return reply(std::move(status));
    }
    raise_floor(request.getFloor());
    if (const auto refused = aborted_.find(ordinal); refused != aborted_.end()) return reply(refused->second);
    if (Status status = watch_peers(); !status.ok()) return reply(std::move(status));
    StepInfo info;
    info.session = shared_->options.session;
    info.ordinal = ordinal;
    info.seed = shared_->options.seed;
    info.training = request.getTraining();
    info.profiled = request.getProfile();
    info.round = request.getRound();
    info.earlier_runs = earlier_runs(request);
    auto feeds = take_feeds(message);
    if (!feeds) return reply(feeds.status());
    const auto step = std::make_shared<PartitionStep>(shared_, info, std::move(*feeds));
    steps_[ordinal] = step;
    if (shared_->receives_from_elsewhere) look_around_later();
    execute(ordinal, *step, std::move(reply));
    if (const auto early = early_.find(ordinal); early != early_.end()) {
      for (const auto& tensors : early->second) step->tensors_arrived(tensors);
      early_.erase(early);
    }
  }

  /// A master begins each step once, and none that it has called over.
  Status may_begin(uint64_t ordinal, uint64_t floor) const {
    const char* const why = floor > ordinal                            ? "is below its own floor"
                            : ordinal < floor_                         ? "is below the floor"
                            : steps_.contains(ordinal)                 ? "runs already"
                            : std::ranges::count(ended_, ordinal) != 0 ? "has ended"
                                                                       : nullptr;
    if (!why) return {};
    return invalid_argument("RunPartition names step " + std::to_string(ordinal) + ", which " + why);
  }

  static std::shared_ptr<const EarlierRuns> earlier_runs(wire::RunPartition::Reader request) {
    const auto nodes = request.getEarlierRuns();
    if (nodes.size() == 0) return nullptr;
    auto runs = std::make_shared<EarlierRuns>();
    for (const auto node : nodes) runs->emplace(view(node.getNode()), node.getRuns());
    return runs;
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

  void execute(uint64_t ordinal, PartitionStep& step, Reply reply) {
    auto kept = std::make_shared<Reply>(std::move(reply));
    step.begin(expect([this, ordinal, kept](Result<AnyMessage> executed) {
      const auto over = std::move(steps_.extract(ordinal).mapped());
      ended_.push_back(ordinal);
      if (!executed) return (*kept)(executed.status());
      Draft<wire::PartitionDone> done;
      set_step(done->initStep(), shared_->options.session, ordinal);
      done->setPartition(shared_->options.partition);
      const auto& positions = shared_->options.fetches;
      auto list = done->initPositions(static_cast<uint32_t>(positions.size()));
      for (uint32_t i = 0; i < positions.size(); ++i) list.set(i, positions[i]);
      if (over->info().profiled) write(over->profile(), *shared_->options.plan, done->initProfile(1)[0]);
      const auto fetched = executed->attachments();
      (*kept)(done.finish({fetched.begin(), fetched.end()}));
    }));
  }

  void arrived(const Message<wire::TensorsArrived>& message) {
    const uint64_t ordinal = message->getStep().getOrdinal();
    const auto step = steps_.find(ordinal);
    if (message->getStep().getSession() != shared_->options.session) {
      node_.strays.fetch_add(1, std::memory_order_relaxed);
      if (step != steps_.end())
        step->second->cancel(data_loss("a tensor of another session arrived for this step"));
    } else if (step != steps_.end()) {
      step->second->tensors_arrived(message);
    } else if (ordinal >= floor_ && !aborted_.contains(ordinal)) {
      early_[ordinal].push_back(message);
    } else {
      node_.strays.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void abort(const Message<wire::AbortStep>& message) {
    const uint64_t ordinal = message->getStep().getOrdinal();
    Status reason = read(message->getReason());
    if (reason.ok()) reason = cancelled("the step was aborted");
    if (const auto step = steps_.find(ordinal); step != steps_.end())
      step->second->cancel(std::move(reason));
    else if (ordinal >= floor_)
      aborted_.emplace(ordinal, std::move(reason));
  }

  // What a step waits for (messages/schemas/executor.capnp).

  using Whereabouts = wire::TokensFound::Whereabouts;

  void find_tokens(const Message<wire::FindTokens>& message, Reply& reply) {
    if (message->getStep().getSession() != shared_->options.session)
      return reply(invalid_argument("this executor is of another session"));
    Draft<wire::TokensFound> draft;
    const auto tokens = message->getTokens();
    auto found = draft->initTokens(tokens.size());
    for (uint32_t i = 0; i < tokens.size(); ++i)
      found.set(i, find(message->getStep().getOrdinal(),
                        {tokens[i].getEdge(), tokens[i].getFrame(), tokens[i].getIteration()}));
    if (!message->getBulk()) return reply(draft.finish());
    auto zeros = Tensor::allocate(DType::UInt8, Shape{static_cast<int64_t>(limits::max_by_control) + 1});
    if (!zeros) return reply(zeros.status());
    std::ranges::fill(zeros->write<uint8_t>(), uint8_t{0});
    reply(draft.finish({std::move(*zeros)}));
  }

  Whereabouts find(uint64_t ordinal, const TokenKey& token) const {
    const auto step = steps_.find(ordinal);
    if (step == steps_.end())
      return ordinal < floor_ || std::ranges::count(ended_, ordinal) != 0 ? Whereabouts::OVER
                                                                          : Whereabouts::NOT_BEGUN;
    switch (step->second->find(token)) {
      case PartitionStep::Whereabouts::Pending: return Whereabouts::PENDING;
      case PartitionStep::Whereabouts::Sent: return Whereabouts::SENT;
      case PartitionStep::Whereabouts::NoSuchEdge: break;
    }
    return Whereabouts::NO_SUCH_EDGE;
  }

  void look_around_later() {
    if (timer_ != 0) return;
    timer_ = node_.env.clock.call_at(
        node_.env.clock.now() + limits::patient_heartbeats * node_.heartbeat,
        [self = self(), &node = node_] { node.engine.send(self, Draft<wire::LookAround>().finish()); });
  }

  void look_around() {
    timer_ = 0;
    if (steps_.empty()) return;
    look_around_later();
    for (const auto& [ordinal, step] : steps_)
      for (const auto& [peer, tokens] : step->overdue()) ask_for(ordinal, *peer, tokens, false);
  }

  void ask_for(uint64_t ordinal, const Address& peer, const std::vector<TokenKey>& tokens, bool bulk) {
    const auto actor = node_.directory.find(peer);
    if (!actor) return give_up(ordinal, tokens[0], peer, actor.status());
    Draft<wire::FindTokens> draft;
    set_step(draft->initStep(), shared_->options.session, ordinal);
    draft->setBulk(bulk);
    auto list = draft->initTokens(static_cast<uint32_t>(tokens.size()));
    for (uint32_t i = 0; i < tokens.size(); ++i) {
      list[i].setEdge(tokens[i].edge);
      list[i].setFrame(tokens[i].frame);
      list[i].setIteration(tokens[i].iteration);
    }
    ask(*actor, draft.finish(), [this, ordinal, &peer, tokens, bulk](const Result<AnyMessage>& answer) {
      if (!answer) return give_up(ordinal, tokens[0], peer, answer.status());
      const Message<wire::TokensFound> found(*answer);
      if (found->getTokens().size() != tokens.size())
        return give_up(ordinal, tokens[0], peer, internal("its answer is about other tensors"));
      std::vector<TokenKey> gone;
      for (uint32_t i = 0; i < tokens.size(); ++i) {
        const Whereabouts where = found->getTokens()[i];
        if (where == Whereabouts::NOT_BEGUN) return confirm(ordinal, tokens[i], peer);
        if (where == Whereabouts::NO_SUCH_EDGE)
          return give_up(ordinal, tokens[i], peer, data_loss("the partition there has no such edge"));
        if (where != Whereabouts::PENDING && waits_for(ordinal, tokens[i])) gone.push_back(tokens[i]);
      }
      if (gone.empty()) return;
      if (!bulk) return ask_for(ordinal, peer, gone, true);
      give_up(ordinal, gone[0], peer, data_loss("the sender says that it was sent, and it has not arrived"));
    });
  }

  /// Whether the step runs at all, the master knows.
  void confirm(uint64_t ordinal, const TokenKey& token, const Address& peer) {
    Draft<wire::ConfirmStep> draft;
    set_step(draft->initStep(), shared_->options.session, ordinal);
    draft->setPartition(shared_->options.partition);
    ask(shared_->options.master, draft.finish(),
        [this, ordinal, token, &peer](const Result<AnyMessage>& answer) {
          if (!answer) give_up(ordinal, token, peer, answer.status());
        });
  }

  std::optional<std::string> waits_for(uint64_t ordinal, const TokenKey& token) const {
    const auto step = steps_.find(ordinal);
    return step == steps_.end() ? std::nullopt : step->second->waits_for(token);
  }

  /// Ends a step for a tensor that will never come, if it still waits for that.
  void give_up(uint64_t ordinal, const TokenKey& token, const Address& peer, const Status& why) {
    const auto name = waits_for(ordinal, token);
    if (!name) return;
    steps_.at(ordinal)->cancel(Status(why.code(), "the tensor " + *name + " of iteration " +
                                                      std::to_string(token.iteration) + ", from " +
                                                      peer.task + ", does not come: " + why.text()));
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

  void stopping() override {
    if (timer_ != 0) node_.env.clock.cancel(timer_);
    cancel_all(unavailable("the executor has ended"));
  }

  /// Every step below is over: whatever is kept for one goes.
  void raise_floor(uint64_t floor) {
    if (floor <= floor_) return;
    floor_ = floor;
    early_.erase(early_.begin(), early_.lower_bound(floor));
    aborted_.erase(aborted_.begin(), aborted_.lower_bound(floor));
    std::erase_if(ended_, [floor](uint64_t ordinal) { return ordinal < floor; });
  }

  ActorNode& node_;
  std::shared_ptr<ExecutorShared> shared_;
  std::map<uint64_t, std::shared_ptr<PartitionStep>> steps_;              ///< running, by ordinal
  std::map<uint64_t, std::vector<Message<wire::TensorsArrived>>> early_;  ///< for steps not begun here yet
  std::map<uint64_t, Status> aborted_;                                    ///< before they began here
  std::vector<uint64_t> ended_;                                           ///< ordinals from the floor on
  uint64_t floor_ = 0;
  TimerId timer_ = 0;  ///< until it looks around
  bool peers_watched_ = false;
};

}  // namespace

Result<ActorRef> spawn_executor(ActorNode& node, ExecutorOptions options) {
  auto shared = std::make_shared<ExecutorShared>(std::move(options));
  if (!shared->status.ok()) return shared->status;
  return node.engine.spawn(std::make_unique<ExecutorRole>(node, std::move(shared)));
}

}  // namespace troupe

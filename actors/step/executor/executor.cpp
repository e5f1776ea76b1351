#include "actors/step/executor/executor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "actors/step/executor/profile_wire.h"
#include "actors/step/executor/running_step.h"
#include "actors/step/executor/tokens_wire.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/limits.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// Of how many steps an executor remembers that they have begun, while an earlier one still runs.
constexpr size_t max_begun = 4096;

class ExecutorRole final : public Role {
 public:
  ExecutorRole(ActorNode& node, std::shared_ptr<ExecutorShared> shared)
      : node_(node), shared_(std::move(shared)) {
    on<wire::RunPartition>([this](const auto& message, Reply reply) { run(message, std::move(reply)); });
    on<wire::AbortStep>([this](const auto& message, Reply) { abort(message); });
    on<wire::TensorsArrived>([this](const auto& message, Reply) { arrived(message); });
    on<wire::FindTokens>(
        [this](const auto& message, Reply reply) { find_tokens(message, std::move(reply)); });
    on<wire::CheckOverdueTokens>([this](const auto&, Reply) { check_overdue(); });
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
    if (Status status = check_ordinal(ordinal, request.getFloor()); !status.ok()) {
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
    info.shard = request.getShard();
    info.unlocked = {info.session, request.getUnlocked()};
    info.earlier_runs = earlier_runs(request);
    auto feeds = take_feeds(message);
    if (!feeds) return reply(feeds.status());
    const auto step = std::make_shared<PartitionStep>(shared_, info, std::move(*feeds));
    note_begun(ordinal);
    steps_[ordinal] = step;
    if (shared_->receives_from_other_processes) check_overdue_later();
    execute(ordinal, *step, std::move(reply));
    if (const auto early = early_.find(ordinal); early != early_.end()) {
      for (const auto& tensors : early->second) step->tensors_arrived(tensors);
      early_.erase(early);
    }
  }

  /// Checks that a step has not begun before and that the master has not declared it over. A small RunPartition may overtake an
  /// earlier one with large feeds, which takes another connection.
  Status check_ordinal(uint64_t ordinal, uint64_t floor) const {
    const std::string why = floor > ordinal            ? "is below its own floor " + std::to_string(floor)
                            : ordinal < floor_         ? "is below the floor " + std::to_string(floor_)
                            : steps_.contains(ordinal) ? "runs already"
                            : begun_.contains(ordinal) ? "has ended"
                            : has_begun(ordinal)       ? "is older than the last steps that have begun here"
                                                       : "";
    if (why.empty()) return {};
    return invalid_argument("RunPartition names step " + std::to_string(ordinal) + ", which " + why);
  }

  void note_begun(uint64_t ordinal) {
    begun_.insert(ordinal);
    if (begun_.size() <= max_begun) return;
    forgotten_ = *begun_.begin();
    begun_.erase(begun_.begin());
  }
  bool has_begun(uint64_t ordinal) const { return ordinal <= forgotten_ || begun_.contains(ordinal); }

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
    } else if (ordinal >= floor_ && !has_begun(ordinal) && !aborted_.contains(ordinal)) {
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
    else if (ordinal >= floor_ && !has_begun(ordinal))
      aborted_.emplace(ordinal, std::move(reason));
  }

  // Overdue tokens (messages/schemas/executor.capnp).

  using TokenState = wire::TokensFound::TokenState;

  void find_tokens(const Message<wire::FindTokens>& message, Reply reply) const {
    if (message->getStep().getSession() != shared_->options.session)
      return reply(
          invalid_argument("FindTokens names session " + std::to_string(message->getStep().getSession()) +
                           ", this executor belongs to session " + std::to_string(shared_->options.session)));
    std::vector<TokenState> states;
    for (const auto token : message->getTokens())
      states.push_back(
          find(message->getStep().getOrdinal(), {token.getEdge(), token.getFrame(), token.getIteration()}));
    reply(tokens_found(*message, states));
  }

  TokenState find(uint64_t ordinal, const TokenKey& token) const {
    const auto step = steps_.find(ordinal);
    if (step == steps_.end()) return has_begun(ordinal) ? TokenState::OVER : TokenState::NOT_BEGUN;
    switch (step->second->find(token)) {
      case PartitionStep::TokenState::Pending: return TokenState::PENDING;
      case PartitionStep::TokenState::Sent: return TokenState::SENT;
      case PartitionStep::TokenState::NoSuchEdge: break;
    }
    return TokenState::NO_SUCH_EDGE;
  }

  void check_overdue_later() {
    if (timer_ != 0) return;
    timer_ = node_.env.clock.call_at(node_.env.clock.now() + limits::patient_heartbeats * node_.heartbeat,
                                     [self = self(), &node = node_] {
                                       node.engine.send(self, Draft<wire::CheckOverdueTokens>().finish());
                                     });
  }

  void check_overdue() {
    timer_ = 0;
    if (steps_.empty()) return;
    check_overdue_later();
    for (const auto& [ordinal, step] : steps_)
      for (const auto& [peer, tokens] : step->overdue()) query(ordinal, *peer, tokens, false);
  }

  /// Asks the executor that sends these tokens what became of them.
  void query(uint64_t ordinal, const Address& peer, const std::vector<TokenKey>& tokens, bool bulk) {
    const auto actor = node_.directory.find(peer);
    if (!actor) return token_lost(ordinal, tokens[0], peer, actor.status());
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
      if (!answer) return token_lost(ordinal, tokens[0], peer, answer.status());
      const Message<wire::TokensFound> found(*answer);
      if (found->getTokens().size() != tokens.size())
        return token_lost(ordinal, tokens[0], peer,
                          internal("the sender was asked about " + std::to_string(tokens.size()) +
                                   " tokens and answered for " + std::to_string(found->getTokens().size())));
      std::vector<TokenKey> missing;
      for (uint32_t i = 0; i < tokens.size(); ++i) {
        const TokenState state = found->getTokens()[i];
        if (state == TokenState::NOT_BEGUN) return confirm(ordinal, tokens[i], peer);
        if (state == TokenState::NO_SUCH_EDGE)
          return token_lost(ordinal, tokens[i], peer, data_loss("the sender's partition has no such edge"));
        if (state != TokenState::PENDING && waits_for(ordinal, tokens[i])) missing.push_back(tokens[i]);
      }
      if (missing.empty()) return;
      if (!bulk) return query(ordinal, peer, missing, true);
      token_lost(ordinal, missing[0], peer,
                 data_loss("the sender has sent it or has ended the step, but it did not arrive"));
    });
  }

  /// Asks the master whether the step runs at all, and ends the step if it does not.
  void confirm(uint64_t ordinal, const TokenKey& token, const Address& peer) {
    Draft<wire::ConfirmStep> draft;
    set_step(draft->initStep(), shared_->options.session, ordinal);
    draft->setPartition(shared_->options.partition);
    ask(shared_->options.master, draft.finish(),
        [this, ordinal, token, &peer](const Result<AnyMessage>& answer) {
          if (!answer) token_lost(ordinal, token, peer, answer.status());
        });
  }

  std::optional<std::string> waits_for(uint64_t ordinal, const TokenKey& token) const {
    const auto step = steps_.find(ordinal);
    return step == steps_.end() ? std::nullopt : step->second->waits_for(token);
  }

  /// Ends a step that still waits for a token that will never arrive.
  void token_lost(uint64_t ordinal, const TokenKey& token, const Address& peer, const Status& why) {
    const auto name = waits_for(ordinal, token);
    if (!name) return;
    steps_.at(ordinal)->cancel(Status(why.code(), "tensor " + *name + " of iteration " +
                                                      std::to_string(token.iteration) + " from " + peer.task +
                                                      " will not arrive: " + why.text()));
  }

  /// Watches the other executors of the partition. Called when a step begins, because only then all of them certainly exist.
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

  /// Fails all running steps, because tokens from the lost executor may be missing. The master ends the steps that have not begun
  /// here yet.
  void peer_lost(const std::string& device, const Status& reason) {
    peers_watched_ = false;
    const Status lost = unavailable("the executor on " + device +
                                    (reason.ok() ? " has ended" : " was lost: " + reason.text()));
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

  /// Drops everything that is kept for steps below the floor, because they are over.
  void raise_floor(uint64_t floor) {
    if (floor <= floor_) return;
    floor_ = floor;
    early_.erase(early_.begin(), early_.lower_bound(floor));
    aborted_.erase(aborted_.begin(), aborted_.lower_bound(floor));
    forgotten_ = std::max(forgotten_, floor - 1);
    begun_.erase(begun_.begin(), begun_.lower_bound(floor));
  }

  ActorNode& node_;
  std::shared_ptr<ExecutorShared> shared_;
  std::map<uint64_t, std::shared_ptr<PartitionStep>> steps_;  ///< the running steps, by ordinal
  /// For steps that have not begun here.
  std::map<uint64_t, std::vector<Message<wire::TensorsArrived>>> early_;
  std::map<uint64_t, Status> aborted_;  ///< steps aborted before they began here
  uint64_t floor_ = 0;
  std::set<uint64_t> begun_;  ///< the steps above forgotten_ that have begun here
  uint64_t forgotten_ = 0;    ///< no step up to this one begins any more
  TimerId timer_ = 0;         ///< for CheckOverdueTokens; 0: not set
  bool peers_watched_ = false;
};

}  // namespace

ActorRef spawn_executor(ActorNode& node, std::shared_ptr<ExecutorShared> shared) {
  return node.engine.spawn(std::make_unique<ExecutorRole>(node, std::move(shared)));
}

}  // namespace troupe

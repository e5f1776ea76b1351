// A step of one partition while it runs: the StepHost that turns what no kernel serves into messages, and their replies into
// arrivals. Send goes to the executor of the other device, ops of services to their actors; no thread waits for any of them.
// Shared by the executor, which hands it tensors and aborts, and by the thread that drives it; it ends itself with StepExecuted.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "actors/step/executor_shared.h"
#include "actors/step/token_outbox.h"
#include "kernels/runtime/step_runner.h"
#include "messages/wire/message.h"

namespace troupe {

class PartitionStep final : public StepHost, public std::enable_shared_from_this<PartitionStep> {
 public:
  PartitionStep(std::shared_ptr<ExecutorShared> shared, const StepInfo& info, std::vector<Tensor> feeds);

  /// Once, before anything else: computes soon, and answers `executed` when nothing of the step runs any more.
  void begin(Reply executed);
  void tensors_arrived(const AnyMessage& message);  ///< a TensorsArrived
  /// Answers a TakeTensor with the value that the variable has now, or with the tensor that waited to be asked for.
  void give(const AnyMessage& message, Reply reply);
  void cancel(Status reason);

  /// Where a token is that the other end of an edge waits for.
  enum class Whereabouts : uint8_t { Pending, Sent, NoSuchEdge };
  Whereabouts find(const TokenKey& token) const;
  /// The tokens from other processes that it has waited for since this was called before, by their sender.
  std::map<const Address*, std::vector<TokenKey>> overdue();
  /// Whether it still waits for a token; the name of the Recv that does, or nothing.
  std::optional<std::string> waits_for(const TokenKey& token) const;
  const StepInfo& info() const { return info_; }
  /// After it has ended, when it was to be profiled.
  const StepProfile& profile() const { return runner_.profile(); }

 private:
  void request(StepRequest request) override;
  void read(Activation activation, uint32_t input, StateCell& cell) override;
  void flush(FlushReason what) override;
  void failing(const Status& status) override;
  bool invite_helper() override;
  void wake() override;
  void ended(Status status) override;

  void send(const StepRequest& request, const ExecutorShared::Request& how);
  bool may_push(const Address& peer, size_t bytes);
  void receive(const StepRequest& request, const ExecutorShared::Request& how);
  void ask_service(const StepRequest& request, const ServedNode& served);
  void cancel_requests();
  /// A message for this step names what is not there: it ends.
  void stray(const std::string& what);
  void arrived(Activation activation, StepReply reply);
  void drive_soon();
  Job drive_job();

  /// What a token brings: tensor or dead, here before or after the Recv that takes it.
  struct Arrived {
    StepReply reply;
    bool announced = false;
  };
  struct Token {
    std::optional<Arrived> value;
    std::optional<Activation> waiting;
    bool overdue = false;  ///< it was waited for when the executor last looked around
  };
  /// What a Send announced and nobody has asked for yet: a variable, or a tensor too much to be pushed.
  struct Offer {
    StateCell* cell = nullptr;
    Tensor tensor = {};
    Activation activation = {};
    const Address* peer = nullptr;
  };
  void send_token(const StepRequest& request, const ExecutorShared::Request& how,
                  std::optional<Tensor> tensor, bool announced);
  void announce(const StepRequest& request, const ExecutorShared::Request& how, Offer offer);
  void token_arrived(const TokenKey& key, Arrived value);
  /// Hands a matched token to its Recv, asking for the value first when it was only announced.
  void match(Activation activation, const TokenKey& key, Arrived value);
  void give(const Offer& offer, Reply reply);
  /// Asks the owner of the variable for its value.
  void read(StateCell& cell, Reply reply);

  const ActorNode::KeepAlive keep_alive_;  // first, so that the node outlives whatever else the step keeps
  const std::shared_ptr<ExecutorShared> shared_;
  const StepInfo info_;
  std::vector<Tensor> feeds_;
  TokenOutbox outbox_;     ///< the driving thread's
  int64_t last_turn_ = 0;  ///< when others last had the driving thread, as far as known; that thread's
  StepRunner runner_;
  Reply executed_;
  /// The actors of services that may keep a request for long, and a node that asked each; the driving thread's.
  std::map<ActorRef, const ServedNode*> waited_for_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::unordered_map<TokenKey, Token, TokenKeyHash> tokens_;
  std::unordered_map<TokenKey, Offer, TokenKeyHash> offers_;
  std::set<const Address*> askers_;  ///< peers that took something offered since they were looked at
  Status failure_;
  bool over_ = false;
};

}  // namespace troupe

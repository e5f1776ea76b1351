// PartitionStep: a running step of one partition. It is the StepHost that turns nodes without a kernel into messages: a Send
// becomes a message to the executor of the other device, an op of a service becomes a message to an actor. No thread waits for the
// replies. The executor, which hands it tensors and cancels it, and the thread that drives it share the step.
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

  /// Starts the step; must be called once, first. `executed` is answered when nothing of the step runs any more.
  void begin(Reply executed);
  /// Takes the tokens of a TensorsArrived message.
  void tensors_arrived(const AnyMessage& message);
  /// Answers a TakeTensor message with the present value of the announced variable, or with the announced tensor.
  void give(const AnyMessage& message, Reply reply);
  void cancel(Status reason);

  /// The state of a token that the receiver of an edge waits for.
  enum class TokenState : uint8_t { Pending, Sent, NoSuchEdge };
  TokenState find(const TokenKey& token) const;
  /// Returns the tokens from other processes, by sender, for which a Recv has waited since the previous call.
  std::map<const Address*, std::vector<TokenKey>> overdue();
  /// Returns the name of the tensor if a Recv still waits for this token; otherwise nothing.
  std::optional<std::string> waits_for(const TokenKey& token) const;
  const StepInfo& info() const { return info_; }
  /// The profile, if the step has ended and was to be profiled.
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
  /// Ends the step because a message for it contains `what`, which the step cannot take.
  void stray(const std::string& what);
  void arrived(Activation activation, StepReply reply);
  void drive_soon();
  Job drive_job();

  /// The content of a token: a tensor, or dead.
  struct Arrived {
    StepReply reply;
    bool announced = false;
  };
  /// A token that has arrived, or a Recv that waits for one.
  struct Token {
    std::optional<Arrived> value;
    std::optional<Activation> waiting;
    bool overdue = false;  ///< a Recv was already waiting when overdue() was called last
  };
  /// Something that a Send has announced and the receiver has not asked for yet: a variable, or a tensor that must not be pushed.
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
  /// Hands a token to the Recv that waits for it. If the token was only announced, first asks the sender for the tensor.
  void match(Activation activation, const TokenKey& key, Arrived value);
  void give(const Offer& offer, Reply reply);
  /// Asks the actor that owns the variable for its value.
  void read(StateCell& cell, Reply reply);

  const ActorNode::KeepAlive keep_alive_;  // the first member, so that the node outlives all others
  const std::shared_ptr<ExecutorShared> shared_;
  const StepInfo info_;
  std::vector<Tensor> feeds_;
  TokenOutbox outbox_;     ///< used by the driving thread only
  int64_t last_turn_ = 0;  ///< when other jobs last ran on the driving thread; used by that thread only
  StepRunner runner_;
  Reply executed_;
  /// The actors that may keep a request of this step for long, each with a node that sent one; used by the driving thread only.
  std::map<ActorRef, const ServedNode*> waited_for_;
  mutable std::mutex mutex_;  ///< guards the members below
  std::unordered_map<TokenKey, Token, TokenKeyHash> tokens_;
  std::unordered_map<TokenKey, Offer, TokenKeyHash> offers_;
  /// Peers that took an offer after may_push() last found too much pushed to them.
  std::set<const Address*> renewed_;
  Status failure_;
  bool over_ = false;
};

}  // namespace troupe

// PartitionStep: a running step of one partition. It is the StepHost that also turns Sends into messages to the executors of other
// devices. The executor, which hands it tensors and cancels it, and the thread that drives it share the step.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "actors/step/executor/served_step.h"
#include "actors/step/executor/token_outbox.h"
#include "messages/wire/message.h"

namespace troupe {

class PartitionStep final : public ServedStep {
 public:
  PartitionStep(const std::shared_ptr<ExecutorShared>& shared, const StepInfo& info,
                std::vector<Tensor> feeds);

  /// Starts the step; must be called once, first. `executed` is answered when nothing of the step runs any more.
  void begin(Reply executed);
  /// Takes the tokens of a TensorsArrived message.
  void tensors_arrived(const AnyMessage& message);
  /// Answers a TakeTensor message with the present value of the announced variable, or with the announced tensor.
  void give(const AnyMessage& message, Reply reply);
  void cancel(Status reason) override;
  void drive_soon() override;

  /// The state of a token that the receiver of an edge waits for.
  enum class TokenState : uint8_t { Pending, Sent, NoSuchEdge };
  TokenState find(const TokenKey& token) const;
  /// Returns the tokens from other processes, by sender, for which a Recv has waited since the previous call.
  std::map<const Address*, std::vector<TokenKey>> overdue();
  /// Returns the name of the tensor if a Recv still waits for this token; otherwise nothing.
  std::optional<std::string> waits_for(const TokenKey& token) const;
  /// The profile, if the step has ended and was to be profiled.
  const StepProfile& profile() const { return runner_->profile(); }

 private:
  void request(StepRequest request) override;
  bool lends_memory(Activation activation) override;
  void flush(FlushReason what) override;
  void failing(const Status& status) override;
  void ended(Status status) override;

  void send(const StepRequest& request, const ExecutorShared::Request& how);
  bool may_push(const Address& peer, size_t bytes);
  /// Hands the tensor that has arrived to its Recv. Fails the step if it lies in device memory and the Recv does not take it there.
  void received(Activation activation, StepReply reply);
  void receive(const StepRequest& request, const ExecutorShared::Request& how);
  /// Ends the step because a message for it contains `what`, which the step cannot take.
  void stray(const std::string& what);
  std::shared_ptr<PartitionStep> self() {
    return std::static_pointer_cast<PartitionStep>(shared_from_this());
  }
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
  void give(const Tensor& tensor, Reply reply);

  std::vector<Tensor> feeds_;
  TokenOutbox outbox_;  ///< used by the driving thread only
  Reply executed_;
  mutable std::mutex mutex_;  ///< guards the members below
  std::unordered_map<TokenKey, Token, TokenKeyHash> tokens_;
  std::unordered_map<TokenKey, Offer, TokenKeyHash> offers_;
  /// Peers that took an offer after may_push() last found too much pushed to them.
  std::set<const Address*> renewed_;
  Status failure_;
  bool over_ = false;
};

}  // namespace troupe

// PartialRuns: the partial runs of one master, and their messages (messages/schemas/session.capnp, executor.capnp). A feed is a
// token that the master sends to the executor that waits for it, a fetch a token that the master gets. A run is here from its
// begin until all its fetches are taken; a failed one until the session drops it. Owned by the master; used by its actor only.
#pragma once

#include <functional>
#include <map>

#include "actors/engine/node.h"
#include "actors/step/partial_step.h"

namespace troupe {

namespace wire {
struct FindTokens;
struct TensorsArrived;
}  // namespace wire

class PartialRuns {
 public:
  /// What the master does for its partial runs.
  struct Host {
    std::function<void(const ActorRef&, AnyMessage, Answer)> ask;
    std::function<void(uint64_t ordinal, Status)> fail_step;  ///< no effect if the step has ended
  };
  PartialRuns(ActorNode& node, uint64_t session, Host host)
      : node_(node), session_(session), host_(std::move(host)) {}

  void begin(uint64_t ordinal, std::shared_ptr<const PartialSignature> signature);
  void proceed(const Message<wire::ContinuePartialRun>& call, const Graph& graph, Reply reply);
  void tensors_arrived(const Message<wire::TensorsArrived>& message);
  void find_tokens(const Message<wire::FindTokens>& message, Reply reply) const;
  /// The step of a run has failed. No effect if the step is not that of a partial run.
  void fail(uint64_t ordinal, const Status& status);
  void fail_all(const Status& status);
  /// No part of the step runs any more. No effect if the step is not that of a partial run.
  void step_ended(uint64_t ordinal);
  /// Forgets a run, whatever its state.
  void drop(uint64_t ordinal) { runs_.erase(ordinal); }

 private:
  PartialStep* find(uint64_t ordinal);
  void give_feeds(uint64_t ordinal, const PartialStep& run, const Message<wire::ContinuePartialRun>& call);
  void take(uint64_t ordinal, PartialStep& run, uint32_t fetch, const Result<Tensor>& tensor);
  void take_announced(uint64_t ordinal, PartialStep& run, uint32_t fetch);
  /// Asks in bulk for a fetch that must be under way, because its step has ended.
  void ask_for_missing(uint64_t ordinal, PartialStep& run, uint32_t fetch);
  /// Fails a run and, if it still runs, its step.
  void end(uint64_t ordinal, const Status& status);
  void forget_if_finished(uint64_t ordinal);

  ActorNode& node_;
  const uint64_t session_;
  const Host host_;
  std::map<uint64_t, PartialStep> runs_;  ///< by ordinal
};

}  // namespace troupe

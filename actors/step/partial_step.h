// PartialStep: what a master knows of one partial run (features.md C7): which feeds were given, which fetches have arrived, and
// which calls wait for them. It sends nothing but answers. Owned by the master; used by its actor only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/engine/role.h"
#include "actors/step/step_compiler.h"

namespace troupe {

namespace wire {
struct ContinuePartialRun;
}

/// A signature of partial runs: its outputs in the graph, and how they are reached in a step.
struct PartialSignature {
  struct Feed {
    std::string name;
    DType dtype;
    PartialShape shape;
    std::optional<ClientEnd> end = {};  ///< none if no node reads the feed
  };
  struct Fetch {
    std::string name;
    ClientEnd end = {};
  };
  RunSignature outputs;
  std::vector<Feed> feeds;
  std::vector<Fetch> fetches;
  std::unordered_map<uint64_t, uint32_t> feed_of, fetch_of;  ///< the positions, by edge
};
PartialSignature partial_signature(const Graph& graph, RunSignature outputs,
                                   const std::vector<WorkerShare>& shares);

class PartialStep {
 public:
  explicit PartialStep(std::shared_ptr<const PartialSignature> signature);

  const PartialSignature& signature() const { return *signature_; }
  /// Takes a call, which waits from now on; or answers it with a failure, changes nothing and returns false.
  bool accept(const Message<wire::ContinuePartialRun>& call, const Graph& graph, Reply reply);

  /// Returns whether the feed of this edge was given; nothing if there is no such edge.
  std::optional<bool> was_fed(uint64_t edge) const;
  /// Returns the position of the fetch of this edge.
  std::optional<uint32_t> find_fetch(uint64_t edge) const;
  /// Notes that the sender of a fetch was asked for it.
  void asked(uint32_t fetch) { fetches_[fetch].state = State::Asked; }
  /// Takes a fetch. Fails with Internal if it has arrived before.
  Status arrived(uint32_t fetch, Tensor tensor);
  /// Returns the fetches that have neither arrived nor been asked for.
  std::vector<uint32_t> missing() const;

  /// Drops all tensors and answers all calls with the first failure, as later ones will be.
  void fail(const Status& status);
  bool failed() const { return !failure_.ok(); }
  /// Notes that no part of the step runs any more.
  void step_ended();
  /// Whether the step has ended in success and all fetches are taken.
  bool finished() const { return step_ended_ && !failed() && is_complete() && calls_.empty(); }

 private:
  enum class State : uint8_t { Pending, Asked, Arrived };
  struct Fetch {
    State state = State::Pending;
    bool claimed = false;  ///< a call has asked for it
    Tensor tensor = {};
  };
  struct Call {
    std::vector<uint32_t> fetches;
    Reply reply;
  };
  Status check(const Message<wire::ContinuePartialRun>& call, const Graph& graph) const;
  Status check_feeds(const Message<wire::ContinuePartialRun>& call, std::vector<bool>& fed) const;
  Status check_fetches(const std::vector<uint32_t>& fetches, const std::vector<bool>& fed,
                       const Graph& graph) const;
  /// Whether no feed is to be given and no fetch to be claimed any more.
  bool is_complete() const { return to_feed_ == 0 && to_claim_ == 0; }
  void answer_calls();
  bool is_ready(const Call& call) const;
  void answer(Call& call);

  const std::shared_ptr<const PartialSignature> signature_;
  std::vector<bool> fed_;
  std::vector<Fetch> fetches_;
  size_t to_feed_, to_claim_;
  std::vector<Call> calls_;
  bool step_ended_ = false;
  Status failure_;
};

}  // namespace troupe

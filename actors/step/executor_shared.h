// ExecutorShared: what the steps of one executor share: how each node without a kernel is carried out. Made once, when the
// partition is registered, and immutable afterwards; may be used from any thread.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "actors/step/executor.h"

namespace troupe {

struct ExecutorShared {
  explicit ExecutorShared(ExecutorOptions given);

  enum class Kind : uint8_t { None, Send, RefSend, Recv, Service };
  /// How one node is carried out.
  struct Request {
    Kind kind = Kind::None;
    uint64_t edge = 0;                ///< for Send and Recv
    const Address* peer = nullptr;    ///< for Send and Recv: the other executor, one of options.executors
    bool from_other_process = false;  ///< for Recv
    std::unique_ptr<const ServedNode> served;  ///< for Service
  };

  /// Whether a Recv of this executor takes the tokens of this edge.
  bool receives(uint64_t edge) const { return received_edges.contains(edge); }
  /// Whether a Send of this executor makes the tokens of this edge.
  bool sends(uint64_t edge) const { return sent_edges.contains(edge); }

  ExecutorOptions options;
  std::unordered_set<uint64_t> received_edges, sent_edges;
  bool receives_from_other_processes = false;
  std::vector<Request> requests;  ///< by number of the node in the plan
  Status status;                  ///< not Ok if a node cannot be prepared

 private:
  Status prepare(const Node& node, Request& how);
  Status prepare_transfer(const Node& node, Request& how);
  Status open(const Node& handle);
};

}  // namespace troupe

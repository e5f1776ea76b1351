// What the steps of one executor share: how each node that no kernel computes is carried out, made once when its partition is
// registered. Immutable afterwards; any thread.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "actors/step/executor.h"

namespace troupe {

struct ExecutorShared {
  explicit ExecutorShared(ExecutorOptions given);

  enum class Kind : uint8_t { None, Send, RefSend, Recv, Service };
  struct Request {
    Kind kind = Kind::None;
    uint64_t edge = 0;              ///< Send, Recv
    const Address* peer = nullptr;  ///< Send, Recv: the executor at the other end, one of options.executors
    bool from_elsewhere = false;    ///< Recv: it is of another process
    std::unique_ptr<const ServedNode> served;  ///< Service
  };

  /// Whether a Recv here, or a Send, is an end of this edge.
  bool takes(uint64_t edge) const { return taken_edges.contains(edge); }
  bool makes(uint64_t edge) const { return made_edges.contains(edge); }

  ExecutorOptions options;
  std::unordered_set<uint64_t> taken_edges, made_edges;
  bool receives_from_elsewhere = false;
  std::vector<Request> requests;  ///< per node of the plan
  Status status;                  ///< why it cannot run, when it cannot

 private:
  Status prepare(const Node& node, Request& how);
  Status prepare_transfer(const Node& node, Request& how);
  Status open(const Node& handle);
};

}  // namespace troupe

// ExecutorShared: what the steps of one executor share: how each node without a kernel is carried out. Made once, when the
// partition is registered, and immutable afterwards; may be used from any thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "actors/step/executor/executor.h"

namespace troupe {

struct ExecutorShared {
  explicit ExecutorShared(ExecutorOptions given);

  struct CalledFunction;
  enum class Kind : uint8_t { None, Send, RefSend, Recv, Service, Call };
  /// How one node is carried out.
  struct Request {
    Kind kind = Kind::None;
    uint64_t edge = 0;                ///< for Send and Recv
    const Address* peer = nullptr;    ///< for Send and Recv: the other executor, one of options.executors
    bool from_other_process = false;  ///< for Recv
    std::unique_ptr<const ServedNode> served;  ///< for Service
    const CalledFunction* function = nullptr;  ///< for Call
    uint64_t path = 0;  ///< for Call: a number for the node, for the keys of random numbers
  };
  /// A plan, and how its nodes without kernels are carried out.
  struct Program {
    std::shared_ptr<const PreparedPlan> plan;
    std::vector<Request> requests;  ///< by number of the node in the plan
  };
  struct CalledFunction {
    std::string name;
    Program program;
    size_t bytes = 0;  ///< the memory of a call, without its tensors
  };

  /// Whether a Recv of this executor takes the tokens of this edge.
  bool receives(uint64_t edge) const { return received_edges.contains(edge); }
  /// Whether a Send of this executor makes the tokens of this edge.
  bool sends(uint64_t edge) const { return sent_edges.contains(edge); }

  ExecutorOptions options;
  std::unordered_set<uint64_t> received_edges, sent_edges;
  bool receives_from_other_processes = false;
  Program program;                                               ///< that of the partition
  std::map<std::string, CalledFunction, std::less<>> functions;  ///< those that the partition calls, by name
  Status status;                                                 ///< not Ok if a node cannot be prepared

 private:
  Status prepare(Program& program);
  Status prepare(const std::shared_ptr<const PreparedPlan>& plan, const Node& node, Request& how);
  Status prepare_transfer(const Node& node, Request& how);
  Status prepare_call(const Node& node, Request& how);
  Status prepare_function(CalledFunction& called);
  Status check_body(const Function& function) const;
  Status open(const Node& handle);

  std::vector<CalledFunction*> unprepared_;
};

}  // namespace troupe

// StepProfile: how one step of a partition spent the time of the threads that drove it. The step writes it if
// StepInfo::profiled is set; others may read it after the step has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace troupe {

struct StepProfile {
  struct NodeWork {
    uint32_t runs = 0;  ///< how often the node ran, runs with dead inputs included
    /// The time of its kernel and of passing on its outputs; for a request, the time until it was sent.
    int64_t nanoseconds = 0;
  };
  std::vector<NodeWork> nodes;  ///< by node number in the plan
  int64_t driven = 0;           ///< nanoseconds during which a thread drove the step
  int64_t elapsed = 0;          ///< nanoseconds from its start to its end

  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
};

/// Adds the time from its construction to its destruction to the work of a node.
class NodeSpan {
 public:
  explicit NodeSpan(StepProfile::NodeWork& work) : work_(work), begin_(StepProfile::now()) {}
  ~NodeSpan() {
    ++work_.runs;
    work_.nanoseconds += StepProfile::now() - begin_;
  }
  NodeSpan(const NodeSpan&) = delete;
  NodeSpan& operator=(const NodeSpan&) = delete;

 private:
  StepProfile::NodeWork& work_;
  const int64_t begin_;
};

}  // namespace troupe

// StepProfile: where one step of a partition spent the time of the threads that drove it. Written by the step that StepInfo asks for it;
// to be read when that has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace troupe {

struct StepProfile {
  struct NodeWork {
    uint32_t runs = 0;        ///< dead ones, too
    int64_t nanoseconds = 0;  ///< its kernel, and handing on what it yields; of a request: until it was sent
  };
  std::vector<NodeWork> nodes;  ///< by number in the plan
  int64_t driven = 0;           ///< nanoseconds in which a thread drove the step
  int64_t elapsed = 0;          ///< from its start to its end

  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
};

/// Adds the time of its life to a node's.
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

// StepProfile: how one step of a partition spent the time of the threads that drove it. The step writes it if
// StepInfo::profiled is set; others may read it after the step has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace troupe {

struct StepProfile {
  struct NodeWork {
    uint32_t runs = 0;  ///< how often the node ran; dead nodes do not run, apart from transfers and fetches
    /// The time of its kernel and of passing on its outputs, on a GPU that of its kernel there; for a request, the time until it
    /// was sent.
    int64_t nanoseconds = 0;
  };
  /// One run of a node, or the time from a request to its reply. Times are those of now().
  struct Span {
    uint32_t node = 0;    ///< its number in the plan
    bool waited = false;  ///< the time from a request to its reply
    int64_t begin = 0, end = 0;
    uint64_t bytes = 0;  ///< of the inputs; of a reply, of the outputs
  };
  /// The spans of a step beyond this number are not kept.
  static constexpr size_t max_spans = size_t{1} << 14;

  std::vector<NodeWork> nodes;  ///< by node number in the plan
  std::vector<Span> spans;      ///< in the order of their ends
  int64_t begin = 0;            ///< the time of the start
  int64_t driven = 0;           ///< nanoseconds during which a thread drove the step
  int64_t elapsed = 0;          ///< nanoseconds from its start to its end

  void add(const Span& span) {
    if (spans.size() < max_spans) spans.push_back(span);
  }
  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
};

/// Adds the time from its construction to its destruction to the work of a node, and as a span.
class NodeTimer {
 public:
  NodeTimer(StepProfile& profile, uint32_t node, uint64_t bytes)
      : profile_(profile), span_{node, false, StepProfile::now(), 0, bytes} {}
  ~NodeTimer() {
    span_.end = StepProfile::now();
    StepProfile::NodeWork& work = profile_.nodes[span_.node];
    ++work.runs;
    work.nanoseconds += span_.end - span_.begin;
    profile_.add(span_);
  }
  NodeTimer(const NodeTimer&) = delete;
  NodeTimer& operator=(const NodeTimer&) = delete;

 private:
  StepProfile& profile_;
  StepProfile::Span span_;
};

}  // namespace troupe

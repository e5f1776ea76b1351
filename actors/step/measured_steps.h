// MeasuredSteps: which steps of a session are measured to place their nodes better (SessionOptions::device_choice), and what was
// measured. Owned by the master; one thread.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "graph/passes/node_costs.h"
#include "messages/wire/message.h"

namespace troupe {

class MeasuredSteps {
 public:
  explicit MeasuredSteps(bool enabled) : enabled_(enabled) {}

  /// Called when a step of this signature begins. Returns whether its nodes are to be timed: those of some steps are, after the
  /// first ones, which allocate memory and compile kernels.
  bool begins(const std::string& signature);
  /// Takes the times of a part of such a step, a message PartitionDone.
  void take(const AnyMessage& part);
  /// Called when such a step has ended. Returns whether the signature is now to be compiled anew, with what has been measured.
  bool ended(const std::string& signature);
  /// Returns the times so far.
  std::shared_ptr<const MeasuredTimes> times() const { return std::make_shared<const MeasuredTimes>(times_); }

 private:
  struct Counts {
    int begun = 0, measured = 0;
  };
  const bool enabled_;
  std::unordered_map<std::string, Counts> counts_;
  MeasuredTimes times_;
};

}  // namespace troupe

// PlacementTrials: which steps of a session are measured to place their nodes better (SessionOptions::device_choice), what was
// measured, and which placement of each signature comes next. Owned by the master; one thread.
//
// Of each signature the first steps, which allocate memory and compile kernels, are not measured. In some further ones all nodes
// are timed; then the signature is compiled anew. With DeviceChoice::Learned it is then compiled for one candidate after the
// other, some steps of each are timed as wholes, and the candidate with the shortest ones stays.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/step/session_options.h"
#include "graph/passes/place/node_costs.h"
#include "messages/wire/message.h"

namespace troupe {

/// What is measured of a step.
struct StepMeasurement {
  int round = 0;       ///< of the trials of its signature
  bool nodes = false;  ///< the times of its nodes
  bool step = false;   ///< the time of the step as a whole

  bool any() const { return nodes || step; }
};

class PlacementTrials {
 public:
  explicit PlacementTrials(DeviceChoice choice) : choice_(choice) {}

  /// Called when a step of this signature begins.
  StepMeasurement begins(const std::string& signature);
  /// Takes the times of a part of a step whose nodes were timed, a message PartitionDone.
  void take(const AnyMessage& part);
  /// Called when a measured step has ended well, after it took so many nanoseconds. Returns whether the signature is now to be
  /// compiled anew.
  bool ended(const std::string& signature, const StepMeasurement& measurement, int64_t nanoseconds);

  /// Returns the candidate for which the signature is to be compiled (PlacementKnowledge::candidate).
  uint64_t candidate(const std::string& signature) const;
  /// Returns the times of nodes so far.
  std::shared_ptr<const MeasuredTimes> times() const { return std::make_shared<const MeasuredTimes>(times_); }

 private:
  /// The trials of one signature. Round 0: its nodes are timed. Then a round for each candidate. After the last round nothing is
  /// measured.
  struct Trials {
    int round = 0, begun = 0;        ///< the steps of the round that have begun
    std::vector<int64_t> durations;  ///< of the measured steps of the round
    std::vector<int64_t> medians;    ///< by candidate
    uint64_t candidate = 0;
  };
  int last_round() const;
  bool next_round(Trials& trials) const;

  const DeviceChoice choice_;
  std::unordered_map<std::string, Trials> trials_;
  MeasuredTimes times_;
};

}  // namespace troupe

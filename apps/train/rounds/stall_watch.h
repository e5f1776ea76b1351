// StallWatch: finds out that a training does not move any more: an answer is awaited, but no task computes, reads data or receives
// anything, because something was lost on the way between two of them (messages/schemas/trainer.capnp). Owned by ClusterRounds; its
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/runtime.h"

namespace troupe::train {

class StallWatch {
 public:
  explicit StallWatch(NodeServices& services) : services_(services) {}

  /// Called when an answer has arrived.
  void moved() { still_since_.reset(); }
  /// Asks the trainers of these tasks what they do. Returns for how long none of the tasks has done anything, as far as this object
  /// has asked; zero if one works, or does not answer.
  std::chrono::nanoseconds still_for(const std::vector<std::string>& tasks);

 private:
  struct Done {
    uint64_t cpu = 0;  ///< processor time, in nanoseconds
    uint64_t steps = 0;
  };
  using AllDone = std::map<std::string, Done>;  ///< by task
  std::optional<AllDone> ask(const std::vector<std::string>& tasks);

  NodeServices& services_;
  AllDone done_;       ///< at `asked_`
  int64_t asked_ = 0;  ///< by the clock of the node
  std::optional<int64_t> still_since_;
};

}  // namespace troupe::train

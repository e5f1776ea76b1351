// StepCount: what a replica tells about the steps that its threads wait for. Waiting, on the stack of such a thread, counts a step
// while it lives. Any thread may read the counts.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::train {

struct StepCount {
  std::atomic<uint64_t> begun{0};
  std::atomic<int> waiting{0};  ///< of those that have begun, how many have not ended
};

class Waiting {
 public:
  explicit Waiting(StepCount& steps) : steps_(steps) {
    ++steps_.begun;
    ++steps_.waiting;
  }
  ~Waiting() { --steps_.waiting; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  StepCount& steps_;
};

}  // namespace troupe::train

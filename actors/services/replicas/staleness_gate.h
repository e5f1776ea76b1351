// StalenessGate: keeps workers from getting too far ahead of each other (stale synchronous parallel, Ho et al. 2013). With
// staleness s a worker may begin round r when all workers have finished round r - s - 1. Owned by the rounds role.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/engine/role.h"

namespace troupe {

class StalenessGate {
 public:
  explicit StalenessGate(uint64_t staleness) : staleness_(staleness) {}

  /// Sets which workers take part. `applied` is the number of rounds that all of them have finished; -1: new workers are where the
  /// slowest one is, the others where they are.
  void set_workers(const std::vector<bool>& takes_part, int64_t applied);
  /// Called when a worker has finished a round. Answers RoundFinished when it may begin the next one; fails with InvalidArgument if
  /// there is no such worker. The workers may be set later, because another peer sends them.
  void finished(uint32_t worker, uint64_t round, Reply reply);
  /// Answers all that wait.
  void end(const Status& reason);

 private:
  struct Worker {
    bool takes_part = false;
    uint64_t finished = 0;
    Reply waiting;  ///< expected if the worker waits
  };
  struct Early {
    uint32_t worker = 0;
    uint64_t round = 0;
    Reply reply;
  };
  uint64_t slowest() const;
  void open();

  const uint64_t staleness_;
  std::vector<Worker> workers_;
  std::vector<Early> early_;  ///< what workers have finished before set_workers()
};

}  // namespace troupe

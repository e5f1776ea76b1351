// Arrivals: the answers to the requests of ClusterRounds, which arrive on any thread and are handled on that of the trainer. Shared
// by both.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "apps/train/rounds/cluster_rounds.h"
#include "messages/env/process.h"

namespace troupe::train {

struct ClusterRounds::Arrivals {
  struct Arrival {
    size_t worker = 0;
    ArrivalKind kind = ArrivalKind::Rounds;
    uint64_t first = 0;  ///< of the rounds requested
    Result<AnyMessage> answer;
    std::function<void()> then = {};  ///< if it is no answer of a worker: what to do
    uint64_t losses = 0;              ///< of the worker when the request was sent
  };
  explicit Arrivals(Process& process) : changed(process.signal()) {}

  void add(Arrival arrival) {
    {
      const std::lock_guard lock(mutex);
      arrived.push_back(std::move(arrival));
    }
    changed->notify();
  }
  bool has_some() {
    const std::lock_guard lock(mutex);
    return !arrived.empty();
  }
  /// Waits for an answer. Returns nothing if none comes before the deadline.
  std::optional<Arrival> take(int64_t deadline) {
    if (!changed->wait([this] { return has_some(); }, deadline)) return {};
    const std::lock_guard lock(mutex);
    Arrival arrival = std::move(arrived.front());
    arrived.pop_front();
    return arrival;
  }

  std::mutex mutex;  ///< guards `arrived`
  std::deque<Arrival> arrived;
  const std::unique_ptr<Signal> changed;
};

/// The losses of the rounds of one request.
struct ClusterRounds::Losses {
  uint64_t first = 0;
  /// For each round the losses of the workers, in their order; without samples if they are not known.
  std::vector<std::vector<ShardLoss>> by_round;
  size_t answers = 0;
  double waited = 0;
  std::vector<observe::DeviceCosts> costs = {};
};

}  // namespace troupe::train

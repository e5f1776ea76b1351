// WorkerReplica: the interface of a worker's part of a training run, as the trainer of its node uses it. One thread runs the
// rounds; assign(), round_fixed(), steps(), interrupt() and cancel() may be called from any thread. Functions throw Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/rounds/rounds.h"
#include "apps/train/rounds/step_count.h"
#include "apps/train/rounds/step_sampler.h"

namespace troupe::train {

/// How many updates by others came between the values from which gradients were computed and the updates with these gradients.
struct Staleness {
  uint64_t steps = 0;  ///< the number of gradients
  uint64_t sum = 0, most = 0;
};

class WorkerReplica {
 public:
  /// `worker` is the number of this worker's task. The clock must outlive this object.
  WorkerReplica(int64_t worker, const Clock& clock) : sampler_(task_name("worker", worker), &clock) {}
  virtual ~WorkerReplica() = default;
  /// How many pushes a shard makes per round; 0 in modes without a coordinator.
  virtual int64_t pushes() const { return 0; }
  /// Whether steps read some variables where they are (ReplicaGraph::reads_in_place).
  virtual bool reads_in_place() const { return false; }
  /// Gets the values of the variables, to which `round` rounds have been applied. No round is in progress.
  virtual void begin(uint64_t round) = 0;
  /// Where the variables of a training are after a server was lost.
  struct Place {
    uint64_t training = 0;            ///< the number under which the training goes on
    std::vector<std::string> owners;  ///< config.cluster.owners
  };
  /// How far this worker and the variables are.
  struct Progress {
    uint64_t next = 0;   ///< the next round of this worker
    uint64_t least = 0;  ///< synchronous mode: how many rounds have been applied to every variable
    uint64_t most = 0;   ///< and to some
  };
  /// Uses the variables at another place from now on. A round that has failed is the next one.
  virtual Progress relocate(const Place&) {
    throw Error(failed_precondition("the variables of this mode are where their workers are"));
  }
  /// Returns the next round, which may be one that has failed, for a trainer that was started anew. Nothing: the training cannot go
  /// on from where this worker is. Not while a round is in progress.
  virtual std::optional<uint64_t> next() const = 0;
  /// Returns where the variables are, and the logical shards that this worker computes.
  virtual std::vector<std::string> owners() const = 0;
  virtual std::vector<int64_t> shards() const = 0;
  /// Sets the logical shards that this worker computes. If a round is in progress, pushes the gradients of the new ones for it.
  /// Assignments are numbered from 1 on as they have been made; one that comes behind a later one has no effect.
  virtual void assign(const std::vector<int64_t>& shards, uint64_t number) = 0;
  /// Runs a round. Returns the loss of the batch in synchronous modes, otherwise of the shards of this worker. Without samples it
  /// is not known. Throws InvalidArgument if `round` is not the next one.
  virtual ShardLoss run(uint64_t round) = 0;
  /// Called when the round goes on without these shards of this worker: it does not compute them any more.
  virtual void round_fixed(uint64_t /*round*/) {}
  /// Returns the staleness of the gradients since the last call, in asynchronous modes.
  virtual Staleness take_staleness() { return {}; }
  /// Returns for how many seconds the last round waited for its batch.
  virtual double waited() const = 0;
  /// What the thread of the rounds waits for outside this object is counted, too.
  StepCount& steps() { return steps_; }
  /// Has profiled some of the steps, for the devices of this worker.
  StepSampler& sampler() { return sampler_; }
  /// Cancels the current round, which may then be repeated. Without effect in modes in which no round can be.
  virtual void interrupt() {}
  /// Cancels the current round, which then throws Cancelled, and all later ones.
  virtual void cancel() = 0;

 protected:
  StepCount steps_;
  StepSampler sampler_;
};

}  // namespace troupe::train

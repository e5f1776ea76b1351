// Rounds: the interface of classes that run training rounds. The trainer's session runs them in one graph (local_rounds.h), or the
// workers of a cluster run them, each in its own session (cluster_rounds.h). Both yield the same weights, bit for bit. One thread,
// that of the trainer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/data/dataset.h"
#include "apps/observe/run_monitor.h"
#include "apps/observe/step_costs.h"
#include "apps/train/graphs/training_graph.h"
#include "messages/values/dtype.h"

namespace troupe::train {

class Rounds {
 public:
  virtual ~Rounds() = default;
  /// Runs at least one of the rounds done + 1, done + 2, ..., last, in order. Returns the loss of each batch. Throws Error.
  virtual std::vector<double> advance(uint64_t done, uint64_t last) = 0;
  /// Called when a step of the caller has failed. Returns true if the variables are where config.cluster.owners says now, so that
  /// the step may be repeated in a new session. Throws Error if the rounds cannot go on.
  virtual bool recover(const Status& /*failure*/) { return false; }
  /// Keeps a worker or parameter server out of the rounds that follow, so that its node may be stopped, or lets it take part
  /// again. Variables that it owns move to another task, and stay there. `name` is that of the task, such as "worker/1"; `done`
  /// rounds have been applied. Fails with NotFound if there is no such task, and with FailedPrecondition if the training cannot
  /// do without it.
  virtual Status set_drained(const std::string& name, bool drained, uint64_t done);
  /// Sets for how many shards the rounds that follow do not wait. Fails with InvalidArgument unless there are more shards, and
  /// with FailedPrecondition if the training has begun without backup workers.
  virtual Status set_backups(uint32_t backups);
  /// Called once, after the last round. Returns a line for the user, which may be empty.
  virtual std::string finish() { return {}; }
  /// Returns what has been counted of gradients that came late; nothing if all are applied in their round.
  virtual std::optional<observe::GradientCounts> gradients() const { return {}; }
  /// Returns for how many seconds the last call of advance() waited for batches; if workers wait, the longest time of one.
  double waited() const { return waited_; }
  /// Returns where the time of steps goes, for each device of which the last call of advance() brought news.
  const std::vector<observe::DeviceCosts>& costs() const { return costs_; }

 protected:
  double waited_ = 0;
  std::vector<observe::DeviceCosts> costs_;
};

/// Returns the feeds of a tower for one shard of a batch, in the order of its inputs. A shard without samples gets a sample of the
/// batch, whose result has weight zero.
std::vector<Tensor> feeds_of_shard(const TowerInputs& inputs, const data::Dataset& batch,
                                   const data::Dataset& shard);

/// The loss of one logical shard of a batch, and its number of samples.
struct ShardLoss {
  double loss = 0;
  int64_t samples = 0;
};

/// Returns the loss of a batch from the losses of its shards in order, as weighted_mean() computes it in a graph for a loss of this
/// dtype.
double batch_loss(std::span<const ShardLoss> shards, DType dtype);

}  // namespace troupe::train

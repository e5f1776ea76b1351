// Rounds: how training rounds are run: in one graph by the trainer's own session (local_rounds.h), or by the workers of a cluster,
// each with a session of its own (cluster_rounds.h). The weights after a round are the same bits either way. One thread, that of
// the trainer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/data/dataset.h"
#include "apps/train/training_graph.h"
#include "messages/values/dtype.h"

namespace troupe::train {

class Rounds {
 public:
  virtual ~Rounds() = default;
  /// Runs rounds done + 1, done + 2, ... at least one, none after `last`; the loss of each batch. Throws Error.
  virtual std::vector<double> advance(uint64_t done, uint64_t last) = 0;
};

/// What a tower is fed of the columns of a batch for one shard of it, in the order of the tower's inputs. A shard without samples
/// computes on one of another shard, and that counts nothing.
std::vector<Tensor> feeds_of_shard(const TowerInputs& inputs, const data::Dataset& batch,
                                   const data::Dataset& shard);

/// What one logical shard had of a batch.
struct ShardLoss {
  double loss = 0;
  int64_t samples = 0;
};

/// The loss of a batch, from those of its shards in order: what weighted_mean computes in a graph, for a loss of this type.
double batch_loss(std::span<const ShardLoss> shards, DType dtype);

}  // namespace troupe::train

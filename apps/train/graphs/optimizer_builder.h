// Makes the optimizer of a run file, with its schedule of the learning rate, and the compression of its gradients. Free
// functions; they throw Error.
#pragma once

#include <memory>
#include <optional>

#include "apps/config/run_config.h"
#include "apps/nn/gradient_compression.h"
#include "apps/nn/optimizer.h"

namespace troupe::train {

/// Adds the variable "learning_rate_factor", by which train.plateau lowers the learning rate, if the run file has that. `scope` has
/// the device of the variable.
std::optional<Output> rate_factor(const config::Train& train, const Scope& scope);
/// Returns the learning rate. `factor` is what rate_factor() returned.
nn::LearningRate learning_rate(const config::Train& train, std::optional<Output> factor);
/// Returns the optimizer. `factor` is what rate_factor() returned; `factors` says those of each variable.
std::unique_ptr<nn::Optimizer> make_optimizer(const config::Train& train, std::optional<Output> factor,
                                              nn::FactorsOf factors);
std::unique_ptr<nn::Optimizer> make_optimizer(const config::Optimizer& optimizer, nn::LearningRate rate,
                                              nn::FactorsOf factors = {});
/// Does the same for updates that several replicas make. Throws InvalidArgument if the optimizer cannot be used so.
std::unique_ptr<nn::Optimizer> make_replica_optimizer(const config::Train& train,
                                                      std::optional<Output> factor, nn::FactorsOf factors);
/// Returns a target that multiplies the variable by train.plateau.factor, but not below min_factor.
Output lower_rate(const config::Plateau& plateau, const Scope& scope, Output factor);

/// Returns the compression of gradients, if the run file asks for one.
std::optional<nn::GradientCompression> make_compression(const config::Replication& replication);

}  // namespace troupe::train

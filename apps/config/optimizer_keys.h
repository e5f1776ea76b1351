// The keys of run files for optimizers: train.optimizer.TYPE.NAME and train.replication.outer.TYPE.NAME, one for each
// hyperparameter of each method in apps/nn/optimizer_methods.h. Constants; any thread.
#pragma once

#include <string>
#include <vector>

#include "apps/config/key.h"

namespace troupe::config {

/// Returns the rows of the schema for the hyperparameters of all optimizers.
std::vector<Key> optimizer_keys();
/// Returns the names of all optimizers: "sgd|momentum|...".
std::string optimizer_names();

/// Do the same for the outer optimizer of local SGD, which updates each variable by itself.
std::vector<Key> outer_optimizer_keys();
std::string outer_optimizer_names();

}  // namespace troupe::config

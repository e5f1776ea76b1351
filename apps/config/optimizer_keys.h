// The keys of run files for optimizers: train.optimizer.TYPE.NAME, one for each hyperparameter of each method in
// apps/nn/optimizer_methods.h. Constants; any thread.
#pragma once

#include <string>
#include <vector>

#include "apps/config/key.h"

namespace troupe::config {

/// Returns the rows of the schema for the hyperparameters of all optimizers.
std::vector<Key> optimizer_keys();
/// Returns the names of all optimizers: "sgd|momentum|...".
std::string optimizer_names();

}  // namespace troupe::config

// Fine-tuning: which weights of a model begin with values of another one, which layers training leaves as they are, and which
// weights it changes faster or slower than others. Functions without state; one thread per graph.
#pragma once

#include "apps/config/run_config.h"
#include "apps/nn/network.h"
#include "apps/nn/optimizer.h"

namespace troupe::config {

/// Freezes the layers that model.freeze names. The network must have no layers yet.
void freeze_layers(const Model& model, const nn::Network& network);

/// Reports names in model.freeze, model.init_except and train.factors that belong to nothing in the network, in which the model has
/// been built.
void check_fine_tuning(const RunConfig& config, const nn::Network& network, Diagnostics& diagnostics);

/// Returns whether a weight begins with the value that model.init_from has for it.
bool has_stored_value(const Model& model, const nn::Weight& weight);

/// Returns the factors that train.factors has for a weight.
nn::UpdateFactors update_factors(const Train& train, const nn::Weight& weight);

}  // namespace troupe::config

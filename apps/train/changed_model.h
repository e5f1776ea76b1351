// What has changed in the model of a run file since the run that is resumed. A function without state that reads a file; any thread
// that may block.
#pragma once

#include <string>

#include "actors/runtime.h"
#include "apps/config/run_config.h"

namespace troupe::train {

/// If a checkpoint does not fit because values of the model have other shapes, returns the failure with the first key of [model]
/// that differs from config.toml of the run in `folder`, and its place in the run file. Otherwise returns `failure` as it is.
Status with_changed_model(const Runtime& runtime, const config::RunConfig& config, const std::string& folder,
                          const Status& failure);

}  // namespace troupe::train

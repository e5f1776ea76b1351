// What TensorFlow Serving's REST interface says of models: the states of their versions, and their signatures. Functions without
// state; any thread. Source: TensorFlow Serving, docs/api_rest.md.
#pragma once

#include <string>

#include "apps/serve/served_model.h"

namespace troupe::serve {

/// Returns {"model_version_status": [...]} with all versions of a model, the newest first. Those that failed to load have ended.
std::string states_json(const ServedModel& model);
/// Returns the same with one version that is served.
std::string state_json(const Version& version);
/// Returns the signatures of a version, and the columns that the objects of requests may have.
std::string metadata_json(const std::string& model, const Version& version);

}  // namespace troupe::serve

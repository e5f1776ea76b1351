// What the Open Inference Protocol says of the server and its models. Functions without state; any thread.
#pragma once

#include <string>

#include "apps/serve/served_model.h"

namespace troupe::serve {

/// Returns the name and the version of this program, and the extensions of the protocol that it has.
std::string server_description();
/// Returns the versions of a model, and the inputs and outputs of Model::predict, or else of its first signature, in one of them.
/// Dimensions that may be any are -1, and so is the only one of a tensor that may have any rank; the datatype is empty where the
/// protocol lacks it.
std::string model_description(const ServedModel& model, const Version& version);
/// Returns that a model is ready to compute.
std::string readiness(const ServedModel& model);

}  // namespace troupe::serve

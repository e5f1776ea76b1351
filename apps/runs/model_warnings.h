// What is probably not meant in a model, though it can be trained. Functions without state; any thread.
#pragma once

#include <string>
#include <vector>

#include "apps/config/model.h"

namespace troupe::runs {

/// Returns a warning for each pair of tensors [batch] and [batch, 1] that the loss or a metric combines element by element: the
/// result is a matrix with an element for each pair of samples.
std::vector<std::string> warnings_of_broadcasts(const Graph& graph, const config::BuiltModel& model);

/// Returns a warning for each definition of the run file that neither the loss nor a metric nor one of `outputs` needs.
std::vector<std::string> warnings_of_unused(const Graph& graph, const config::RunConfig& config,
                                            const config::BuiltModel& model, std::vector<Output> outputs);

}  // namespace troupe::runs

// What the graph of a model is for. A pure function; any thread.
#pragma once

#include <vector>

#include "apps/interop/meta_graph.h"

namespace troupe::draw {

/// Returns what a model yields for samples, and its loss if it has one; if it has neither, what all its signatures yield.
std::vector<Output> model_results(const interop::MetaGraph& meta);

}  // namespace troupe::draw

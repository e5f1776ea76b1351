// The picture of a trained model, as pages show it. A function without state; blocks while graphviz draws.
#pragma once

#include <string>

#include "apps/interop/meta_graph.h"
#include "messages/values/status.h"

namespace troupe::draw {

/// Returns an SVG element. Fails as svgs_of() does.
Result<std::string> model_svg(const interop::MetaGraph& model);

}  // namespace troupe::draw

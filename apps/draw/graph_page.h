// A page of HTML with a drawing of a graph and one of each folded scope, which a click opens. A function without state; blocks
// while graphviz draws.
#pragma once

#include <string>

#include "apps/draw/graph_view.h"

namespace troupe::draw {

/// Fails as svgs_of() does.
Result<std::string> graph_page(const GraphView& view, const std::string& title, size_t depth);

}  // namespace troupe::draw

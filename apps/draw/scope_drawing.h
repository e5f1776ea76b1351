// A drawing of a part of a graph for readers, in the dot language: scopes as boxes, which are open or folded. Pure functions;
// any thread.
#pragma once

#include <map>
#include <string>

#include "apps/draw/graph_view.h"

namespace troupe::draw {

struct ScopeDrawing {
  std::string dot;
  size_t boxes = 0;  ///< how many nodes and folded scopes it shows
  /// The folded scopes, by their paths: the class of each in an SVG, "scope-3".
  std::map<Path, std::string> folded;
};

/// Numbers the scopes of a page, so that each has the same class in all its drawings.
using ScopeNumbers = std::map<Path, size_t>;

/// Draws what is in the scope `focus`. Scopes inside it are open down to `depth` and folded below that; what is outside and
/// linked to it is folded.
ScopeDrawing draw_scope(const GraphView& view, const Path& focus, size_t depth, ScopeNumbers& numbers);

/// Returns the depth to which scopes are open unless a reader says otherwise: 1, or 0 if that shows too much.
size_t default_depth(const GraphView& view);

}  // namespace troupe::draw

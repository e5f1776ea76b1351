#include "apps/draw/model_svg.h"

#include "apps/draw/graphviz.h"
#include "apps/draw/model_results.h"
#include "apps/draw/scope_drawing.h"

namespace troupe::draw {

Result<std::string> model_svg(const interop::MetaGraph& model) {
  const GraphView view(model.graph, {.results = model_results(model)});
  ScopeNumbers numbers;
  TROUPE_ASSIGN(const auto svgs, svgs_of({draw_scope(view, {}, default_depth(view), numbers).dot}));
  return svgs.front();
}

}  // namespace troupe::draw

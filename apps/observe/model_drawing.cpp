#include "apps/observe/model_drawing.h"

#include "apps/draw/model_svg.h"

namespace troupe::observe {
namespace {

constexpr size_t max_nodes = 2000;  // a drawing of more takes graphviz many seconds

}  // namespace

ModelDrawing::ModelDrawing(const interop::MetaGraph& model, RunMonitor& monitor) {
  if (model.graph.size() > max_nodes) return;
  thread_ = std::thread([model, &monitor] {
    if (auto svg = draw::model_svg(model)) monitor.set_drawing(std::move(*svg));
  });
}

ModelDrawing::~ModelDrawing() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace troupe::observe

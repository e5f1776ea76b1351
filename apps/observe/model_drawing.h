// ModelDrawing: draws a model, on a thread of its own, for those who watch the run. Owned by who starts the trainer.
#pragma once

#include <thread>

#include "apps/interop/meta_graph.h"
#include "apps/observe/run_monitor.h"

namespace troupe::observe {

class ModelDrawing {
 public:
  /// Begins to draw, unless the graph is so large that nobody could read it. The monitor gets the drawing, if graphviz is
  /// installed, and must outlive this object.
  ModelDrawing(const interop::MetaGraph& model, RunMonitor& monitor);
  /// Waits for the drawing.
  ~ModelDrawing();
  ModelDrawing(const ModelDrawing&) = delete;
  ModelDrawing& operator=(const ModelDrawing&) = delete;

 private:
  std::thread thread_;
};

}  // namespace troupe::observe

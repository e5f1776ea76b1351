// ModelDrawing: has the program dot of graphviz draw a model, on a thread of its own, for those who watch the run. Owned by who
// starts the trainer.
#pragma once

#include <string>
#include <thread>

#include "apps/observe/run_monitor.h"
#include "graph/build/graph.h"

namespace troupe::observe {

class ModelDrawing {
 public:
  /// Begins to draw, unless the graph is so large that nobody could read it. `folder` is for files in between. The monitor gets the
  /// drawing, if dot is installed, and must outlive this object.
  ModelDrawing(const Graph& model, const std::string& folder, RunMonitor& monitor);
  /// Waits for the drawing.
  ~ModelDrawing();
  ModelDrawing(const ModelDrawing&) = delete;
  ModelDrawing& operator=(const ModelDrawing&) = delete;

 private:
  std::thread thread_;
};

}  // namespace troupe::observe

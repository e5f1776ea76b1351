// WatchedTraining: what lets others watch and control a training of this process. Made before the training and destroyed after it,
// by the main thread.
#pragma once

#include <memory>
#include <optional>

#include "apps/observe/model_drawing.h"
#include "apps/observe/run_server.h"
#include "apps/train/trainer.h"

namespace troupe::commands {

class WatchedTraining {
 public:
  /// Begins to serve at the addresses in `config`, and gives the trainer what it needs in `options`, whose `line` and `stop` are
  /// set. Fails as RunServer::start() does.
  static Result<std::unique_ptr<WatchedTraining>> begin(const config::RunConfig& config,
                                                        train::TrainerOptions& options);

  /// Tells those who watch how the run has ended.
  void ended(const std::string& ending) { monitor_.ended(ending); }
  /// Returns the run as it is now.
  observe::RunSnapshot snapshot() const { return monitor_.snapshot(); }

 private:
  explicit WatchedTraining(const train::TrainerOptions& options);
  void opened(const std::string& folder, const interop::MetaGraph& model);

  const std::function<void(const std::string&)> line_;
  bool draws_ = false;  ///< there is a page, which shows the model
  observe::RunMonitor monitor_;
  observe::RunControl control_;
  std::string folder_;
  std::optional<observe::ModelDrawing> drawing_;
  std::unique_ptr<observe::RunServer> server_;
};

}  // namespace troupe::commands

#include "apps/commands/watched_training.h"

#include <unistd.h>

#include <csignal>

namespace troupe::commands {

WatchedTraining::WatchedTraining(const train::TrainerOptions& options)
    : line_(options.line), control_([stop = options.stop] {
        if (!stop->load()) ::kill(::getpid(), SIGTERM);  // a second signal would kill the process
      }) {}

Result<std::unique_ptr<WatchedTraining>> WatchedTraining::begin(const config::RunConfig& config,
                                                                train::TrainerOptions& options) {
  std::unique_ptr<WatchedTraining> made(new WatchedTraining(options));
  TROUPE_ASSIGN(made->server_,
                observe::RunServer::start(config.observe, made->monitor_, made->control_, made->line_));
  made->draws_ = !config.observe.page.empty();
  options.monitor = &made->monitor_;
  options.control = &made->control_;
  options.opened = [watched = made.get()](const std::string& folder, const interop::MetaGraph& model) {
    watched->opened(folder, model);
  };
  return made;
}

void WatchedTraining::opened(const std::string& folder, const interop::MetaGraph& model) {
  if (folder == folder_) return;
  folder_ = folder;
  server_->open(folder, line_);
  if (draws_) drawing_.emplace(model, monitor_);
}

}  // namespace troupe::commands

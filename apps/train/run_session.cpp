#include "apps/train/run_session.h"

#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/run_setting.h"

namespace troupe::train {

void RunSession::build() {
  (void)saving_.wait();
  evaluation_.reset();
  session_.reset();
  best_.reset();
  graph_.emplace(runtime_.ops());
  const bool is_replicated = with_workers(config_, options_);
  model_ = value_or_throw(build_training_graph(config_, data_.train->columns(), *graph_,
                                               is_replicated ? runtime_.services().task() : std::string()));
  owners_ = config_.cluster.owners;
  if (config_.train.early_stop && config_.train.early_stop->keep_best)
    best_.emplace(Scope(*graph_), best_prefix);
}

void RunSession::open() {
  // A stage that has a GPU may have ops without a kernel for it.
  SessionOptions options{.seed = config_.run.seed,
                         .placement = Placement::Soft,
                         .check_finite = config_.train.check_finite,
                         .start_timeout = config_.train.fault.start_timeout};
  if (with_workers(config_, options_))
    options.tasks = owners_of_variables(config_);  // others may be lost while it runs
  session_.emplace(runtime_.session(*graph_, options));
  evaluation_.emplace(*session_, model_);
}

void RunSession::follow_variables() {
  if (owners_ != config_.cluster.owners) build();
  if (!session_) open();
}

}  // namespace troupe::train

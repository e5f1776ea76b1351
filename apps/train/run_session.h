// RunSession: the graph of a run and the session in which its trainer runs steps of it. Both are made anew when the variables have
// moved to other tasks. One thread, that of the trainer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/runtime.h"
#include "apps/nn/variable_snapshot.h"
#include "apps/train/folder/background_save.h"
#include "apps/train/graphs/training_graph.h"
#include "apps/train/rounds/evaluation.h"
#include "apps/train/rounds/rounds.h"
#include "apps/train/trainer.h"

namespace troupe::train {

/// What the names of the copies begin with that train.early_stop.keep_best adds.
inline constexpr const char* best_prefix = "best";

class RunSession {
 public:
  /// All arguments must outlive this object. `config` says in cluster.owners where the variables are. `saving` is waited for before
  /// the session ends.
  RunSession(const config::RunConfig& config, const TrainerOptions& options, const data::TrainAndValid& data,
             Runtime& runtime, BackgroundSave& saving)
      : config_(config), options_(options), data_(data), runtime_(runtime), saving_(saving) {}

  /// Builds the graph for the present owners of the variables. There is no session then. Throws Error.
  void build();
  /// Builds the graph anew if the variables have moved, and opens a session if there is none. Throws Error.
  void follow_variables();
  /// Calls `use`, which runs steps of the session that change no variables. If a server is lost meanwhile and its mirror takes over
  /// its variables, calls it again. `rounds` may be null. Throws Error.
  template <class Use>
  auto run(Rounds* rounds, Use use) {
    for (;;) {
      Status failure;
      try {
        follow_variables();
        return use();
      } catch (const Error& error) {
        failure = error.status();
      }
      if (!rounds || !rounds->recover(failure)) throw Error(failure);
    }
  }

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  const TrainingGraph& model() const { return model_; }
  /// After follow_variables(), until build().
  Session& session() { return *session_; }
  const Evaluation& evaluation() const { return *evaluation_; }
  /// Returns the best model; null unless train.early_stop.keep_best is set.
  nn::VariableSnapshot* best() { return best_ ? &*best_ : nullptr; }

 private:
  void open();

  const config::RunConfig& config_;
  const TrainerOptions& options_;
  const data::TrainAndValid& data_;
  Runtime& runtime_;
  BackgroundSave& saving_;
  std::optional<Graph> graph_;
  TrainingGraph model_;
  std::vector<std::string> owners_;  ///< of the variables of the graph: a value of config_.cluster.owners
  std::optional<nn::VariableSnapshot> best_;
  std::optional<Session> session_;
  std::optional<Evaluation> evaluation_;
};

}  // namespace troupe::train

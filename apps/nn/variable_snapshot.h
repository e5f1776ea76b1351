// VariableSnapshot keeps a copy of all variables of a graph, for example those of the best model of a training. The copies are
// variables, too, named "PREFIX/NAME" and on the devices of the originals; checkpoints include them once they have values. The
// constructor adds nodes to the graph and must be called after all variables exist. Functions throw Error. Public header; one
// thread at a time.
#pragma once

#include <string>

#include "actors/step/session.h"
#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class VariableSnapshot {
 public:
  VariableSnapshot(const Scope& scope, const std::string& prefix);
  /// Copies the current value of every variable. Throws FailedPrecondition if a variable has no value.
  void keep(Session& session) const { session.run({keep_}); }
  /// Restores every variable from its copy. Throws FailedPrecondition if keep() has not run.
  void restore(Session& session) const { session.run({restore_}); }

 private:
  Output keep_, restore_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop

// VariableSnapshot: a second value beside each variable of a graph, kept from an earlier moment; a training keeps its best model in
// one. The second values are variables, too, named "PREFIX/NAME", on the devices of the first, so that checkpoints hold them once
// they have a value. Adds its own nodes to the graph; made after every variable. Throws Error. One thread at a time.
#pragma once

#include <string>

#include "actors/step/session.h"
#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class VariableSnapshot {
 public:
  VariableSnapshot(const Scope& scope, const std::string& prefix);
  /// Keeps the present value of every variable; FailedPrecondition when one has none.
  void keep(Session& session) const { session.run({keep_}); }
  /// Gives every variable its kept value; FailedPrecondition when keep() has not run.
  void restore(Session& session) const { session.run({restore_}); }

 private:
  Output keep_, restore_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop

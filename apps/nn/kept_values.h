// A second value beside each variable of a graph, which stays as it was when it was kept: what the best model so far is made of.
// They are variables too, called "PREFIX/NAME", each where its variable is, so that checkpoints hold them as soon as there are
// any. Adds its own nodes to the graph; made after every variable. Throws Error. One thread at a time.
#pragma once

#include <string>

#include "actors/session.h"
#include "graph/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class KeptValues {
 public:
  KeptValues(const Scope& scope, const std::string& prefix);
  /// Keeps the present value of every variable; FailedPrecondition when one has none.
  void keep(Session& session) const { session.run({keep_}); }
  /// Gives the variables what was kept; FailedPrecondition when nothing was.
  void bring_back(Session& session) const { session.run({bring_back_}); }

 private:
  Output keep_, bring_back_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop

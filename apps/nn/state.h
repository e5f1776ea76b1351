// The values of all variables of a graph, read and written as a whole through a session: what checkpoints and the keeping of the
// best model are made of. Adds its own nodes to the graph; made after every variable. Throws Error. One thread at a time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/session.h"
#include "graph/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

class State {
 public:
  explicit State(const Scope& scope);
  /// Every variable by its name, in the order made; FailedPrecondition when one has no value yet.
  NamedTensors read(Session& session) const;
  /// Gives every variable its value. NotFound for one that is missing, InvalidArgument for another dtype or shape; then nothing
  /// has changed.
  void write(Session& session, const NamedTensors& values) const;

 private:
  std::vector<std::string> names_;
  std::vector<Output> variables_, values_, assigned_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop

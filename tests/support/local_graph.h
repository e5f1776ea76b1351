// LocalGraph: a graph, a scope to build it with, and a runtime that runs it; a fixture for tests. One thread.
#pragma once

#include <type_traits>

#include "graph/build/scope.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {

struct LocalGraph {
  Graph graph{op_library()->ops};
  Scope g{graph};
  LocalRuntime runtime{op_library()};

  template <class T = float>
  Output number(std::type_identity_t<T> value) {
    return g.constant(Tensor::scalar<T>(value));
  }
  /// Returns the failure of a step that fetches this output, or Ok.
  Status failure(Output fetch) { return runtime.run(graph, {}, {fetch}).status(); }
};

}  // namespace troupe::test

// LocalGraph: a graph put together op by op and the runtime that runs it, for tests to have as their fixture. One thread.
#pragma once

#include <type_traits>

#include "graph/build/scope.h"
#include "tests/support/local_host.h"
#include "tests/support/op_library.h"

namespace troupe::test {

struct LocalGraph {
  Graph graph{op_library()->ops};
  Scope g{graph};
  LocalRuntime runtime{op_library()};

  template <class T = float>
  Output number(std::type_identity_t<T> value) {
    return g.constant(Tensor::scalar<T>(value));
  }
  /// Why a step that fetches this fails; Ok when it does not.
  Status failure(Output fetch) { return runtime.run(graph, {}, {fetch}).status(); }
};

}  // namespace troupe::test

// SubgraphRunner: simplifies subgraphs and runs them on one device, with real kernels.
#pragma once

#include "graph/passes/partition/partition.h"
#include "graph/passes/simplify/simplify.h"
#include "kernels/runtime/evaluate.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {

struct SubgraphRunner {
  std::shared_ptr<const OpLibrary> library = op_library();
  LocalRuntime runtime{library};

  Evaluate evaluator() {
    return [this](const Graph& graph, const Node& node, std::span<const Tensor> inputs) {
      return evaluate(*library, graph, node, inputs, runtime.device().context());
    };
  }
  SimplifyReport simplify(Subgraph& subgraph) {
    return value_or_throw(troupe::simplify(subgraph, {evaluator()}));
  }

  std::vector<Tensor> run(const Subgraph& subgraph, std::span<const Tensor> feeds) {
    const DeviceInfo device{runtime.device().name(), 1, 0};
    const auto parts = value_or_throw(
        partition(subgraph.graph, std::vector<DeviceId>(subgraph.graph.size(), 0), {&device, 1}));
    const auto plan = value_or_throw(runtime.prepare(parts[0]));
    std::vector<Tensor> used;
    for (const PartitionEnd& feed : parts[0].feeds) used.push_back(feeds[feed.position]);
    return value_or_throw(runtime.run(plan, std::move(used)));
  }
};

}  // namespace troupe::test

// Measures the cost of a node in the step runner, without actors: 10,000 nodes as a chain, as a binary tree and side by side. The
// nodes are NoOps (only control edges) or scalar additions with their output tensors. Also measures reads of variables and a loop.
// No constants are folded. One thread.
#include <benchmark/benchmark.h>

#include "graph/build/control_flow.h"
#include "tests/support/net/local_host.h"

namespace troupe {
namespace {

constexpr size_t node_count = 10'000;

/// A host that must not receive any request.
struct UnusedHost final : StepHost {
  void request(StepRequest) override {}
  void read(Activation, uint32_t, StateCell&) override {}
  void failing(const Status& status) override { throw Error(status); }
  void wake() override {}
  void ended(Status) override {}
};

/// A graph under construction, whose placeholder x is fed, and its runtime.
struct Bench {
  std::shared_ptr<const OpLibrary> library = make_op_library();
  test::LocalRuntime runtime{library};
  Graph graph{library->ops};
  Scope g{graph};
  Output x = g.add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});

  Output add(Output a, Output b) const { return g.add_one("Add", {a, b}); }
  Output no_op(const std::vector<Output>& after) const { return g.group(after); }
  void run(benchmark::State& state, std::vector<Output> fetches, std::vector<NodeId> targets,
           size_t nodes = node_count) {
    const auto plan = value_or_throw(runtime.prepare(graph, {{x}, std::move(fetches), std::move(targets)}));
    const Tensor one = Tensor::scalar(1.0f);
    const size_t feeds = plan->plan().feeds().size();
    UnusedHost host;
    for (auto _ : state) {
      std::vector<Tensor> fed(feeds, one);
      StepRunner runner(plan, host);
      runner.start({}, fed);
      runner.drive();
    }
    state.counters["time_per_node"] =
        benchmark::Counter(static_cast<double>(nodes),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
};

void chain_no_op(benchmark::State& state) {
  Bench b;
  Output last = b.no_op({});
  for (size_t i = 1; i < node_count; ++i) last = b.no_op({last});
  b.run(state, {}, {last.node});
}

// Each node runs after its two children.
void tree_no_op(benchmark::State& state) {
  Bench b;
  std::vector<Output> open;
  for (size_t i = 0; i < node_count / 2; ++i) open.push_back(b.no_op({}));
  for (size_t i = 0; i + 1 < open.size(); i += 2) open.push_back(b.no_op({open[i], open[i + 1]}));
  b.run(state, {}, {open.back().node});
}

// One node runs before all others, and one after them.
void wide_no_op(benchmark::State& state) {
  Bench b;
  const Output first = b.no_op({});
  std::vector<Output> all;
  for (size_t i = 2; i < node_count; ++i) all.push_back(b.no_op({first}));
  b.run(state, {}, {b.no_op(all).node});
}

// y = y + x: the memory of y is reused.
void chain_add(benchmark::State& state) {
  Bench b;
  Output y = b.add(b.x, b.x);
  for (size_t i = 1; i < node_count; ++i) y = b.add(y, b.x);
  b.run(state, {y}, {});
}

// y = y + x, where another node reads y, so that each sum needs its own memory.
void chain_add_kept(benchmark::State& state) {
  Bench b;
  Output y = b.add(b.x, b.x), before = b.x;
  for (size_t i = 1; i < node_count; ++i) {
    const Output next = b.add(y, before);
    before = b.g.with_control({next}).add_one("Identity", {y});
    y = next;
  }
  b.run(state, {y}, {}, 2 * node_count);
}

void tree_add(benchmark::State& state) {
  Bench b;
  std::vector<Output> open;
  for (size_t i = 0; i < node_count / 2; ++i) open.push_back(b.add(b.x, b.x));
  for (size_t i = 0; i + 1 < open.size(); i += 2) open.push_back(b.add(open[i], open[i + 1]));
  b.run(state, {open.back()}, {});
}

// Every sum has its own memory.
void wide_add(benchmark::State& state) {
  Bench b;
  std::vector<Output> all;
  for (size_t i = 1; i < node_count; ++i) all.push_back(b.add(b.x, b.x));
  b.run(state, {}, {b.no_op(all).node});
}

// i, sum = 0, 0; while i < 10,000: sum += x; i += 1. Time per iteration.
void while_loop_add(benchmark::State& state) {
  Bench b;
  const auto number = [](const Scope& s, float value) { return s.constant(Tensor::scalar(value)); };
  const auto loop = while_loop(
      b.g, {number(b.g, 0), number(b.g, 0)},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], number(s, node_count)});
      },
      [&](const Scope& s, auto v) {
        return std::vector{s.add_one("Add", {v[0], number(s, 1)}), s.add_one("Add", {v[1], b.x})};
      });
  b.run(state, {loop[1]}, {});
}

// One variable read by 10,000 nodes.
void variable_read(benchmark::State& state) {
  Bench b;
  const Output v = b.g.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}});
  const Output assign = b.g.add_one("Assign", {v, b.g.constant(Tensor::scalar(1.0f))});
  throw_if_failed(b.runtime.run(b.graph, {}, {{assign.node, Output::control}}).status());
  std::vector<Output> all;
  for (size_t i = 1; i < node_count; ++i) all.push_back(b.add(v, b.x));
  b.run(state, {}, {b.no_op(all).node});
}

BENCHMARK(chain_no_op);
BENCHMARK(tree_no_op);
BENCHMARK(wide_no_op);
BENCHMARK(chain_add);
BENCHMARK(chain_add_kept);
BENCHMARK(tree_add);
BENCHMARK(wide_add);
BENCHMARK(while_loop_add);
BENCHMARK(variable_read);

}  // namespace
}  // namespace troupe

// What a step costs through the whole stack: session, master, worker, executor, device. TensorFlow's figures for the same graphs
// come from bench/peers/null_step.py.
#include <benchmark/benchmark.h>

#include "actors/runtime.h"
#include "graph/scope.h"

namespace troupe {
namespace {

Output placeholder(const Scope& g) {
  return g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
}

// x -> Add(x, x)
void null_step(benchmark::State& state, bool prepared) {
  Runtime runtime({.threads = 1});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output x = placeholder(g), y = g.add_one("Add", {x, x});
  Session session = runtime.session(graph);
  const PreparedStep step = session.prepare({x}, {y});
  const Tensor one = Tensor::scalar(1.0f);
  for (auto _ : state) {
    if (prepared)
      benchmark::DoNotOptimize(step.run({one}));
    else
      benchmark::DoNotOptimize(session.run({{x, one}}, {y}));
  }
}
BENCHMARK_CAPTURE(null_step, session_run, false)->Repetitions(9)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(null_step, prepared, true)->Repetitions(9)->ReportAggregatesOnly();

// v: AssignAdd(v, x), fetched
void variable_update(benchmark::State& state) {
  Runtime runtime({.threads = 1});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output v = g.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  const Output init = g.add_one("Assign", {v, g.constant(Tensor::scalar(0.0f))});
  const Output x = placeholder(g), add = g.add_one("AssignAdd", {v, x});
  Session session = runtime.session(graph);
  session.run({init});
  const PreparedStep step = session.prepare({x}, {add});
  for (auto _ : state) benchmark::DoNotOptimize(step.run({Tensor::scalar(1.0f)}));
}
BENCHMARK(variable_update)->Repetitions(9)->ReportAggregatesOnly();

// CPU:0 x -> Add --edge--> CPU:1 Add, both in one process
void two_devices(benchmark::State& state) {
  Runtime runtime({.threads = 1, .tasks = {{"worker", 0, 2}}});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output x = placeholder(g);
  const Output y = g.with_device("/device:CPU:0").add_one("Add", {x, x});
  const Output z = g.with_device("/device:CPU:1").add_one("Add", {y, y});
  Session session = runtime.session(graph);
  const PreparedStep step = session.prepare({x}, {z});
  for (auto _ : state) benchmark::DoNotOptimize(step.run({Tensor::scalar(1.0f)}));
}
BENCHMARK(two_devices)->Repetitions(9)->ReportAggregatesOnly();

}  // namespace
}  // namespace troupe

// What a step costs through the whole stack: session, master, worker, executor, device. bench/peers/steps.py sets TensorFlow's figures
// for the same graphs beside these.
#include <benchmark/benchmark.h>

#include "actors/runtime.h"
#include "graph/build/control_flow.h"

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

// y = y + x, 10,000 times.
void chain(benchmark::State& state) {
  Runtime runtime({.threads = 1});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output x = placeholder(g);
  Output y = x;
  for (int i = 0; i < 10'000; ++i) y = g.add_one("Add", {y, x});
  Session session = runtime.session(graph);
  const PreparedStep step = session.prepare({x}, {y});
  for (auto _ : state) benchmark::DoNotOptimize(step.run({Tensor::scalar(1.0f)}));
}

// i, sum = 0, 0; while i < 10,000: sum += x; i += 1. Over two devices: the sum, and x, on the second.
void while_loop_sum(benchmark::State& state, int devices) {
  Runtime runtime({.threads = static_cast<size_t>(devices), .tasks = {{"localhost", 0, devices}}});
  Graph graph(runtime.ops());
  const Scope g = Scope(graph).with_device("/device:CPU:0");
  const auto on_last = [&](const Scope& scope) {
    return scope.with_device("/device:CPU:" + std::to_string(devices - 1));
  };
  const auto number = [](const Scope& s, float value) { return s.constant(Tensor::scalar(value)); };
  const Output x = placeholder(g);
  const auto loop = while_loop(
      g, {number(g, 0), number(on_last(g), 0)},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], number(s, 10'000)});
      },
      [&](const Scope& s, auto v) {
        return std::vector{s.add_one("Add", {v[0], number(s, 1)}), on_last(s).add_one("Add", {v[1], x})};
      });
  Session session = runtime.session(graph);
  const PreparedStep step = session.prepare({x}, {loop[1]});
  for (auto _ : state) benchmark::DoNotOptimize(step.run({Tensor::scalar(1.0f)}));
}

BENCHMARK_CAPTURE(null_step, session_run, false);
BENCHMARK_CAPTURE(null_step, prepared, true);
BENCHMARK(variable_update);
BENCHMARK(two_devices);
BENCHMARK(chain)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(while_loop_sum, one_device, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(while_loop_sum, two_devices, 2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace troupe

// Measures a step through the whole stack: session, master, worker and executor. bench/peers/steps.py compares the results with
// TensorFlow's for the same graphs.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>

#include "actors/runtime.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "messages/values/crc32c.h"

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

// Each thread runs its own steps on its own variable, v: AssignAdd(v, x), which is not fetched. Up to 512 KiB the actor of the
// variable computes the update in its handler; larger updates are computed outside.
std::unique_ptr<Runtime> shared_runtime;

void independent_updates(benchmark::State& state) {
  const auto elements = static_cast<int32_t>(state.range(0));
  Graph graph(shared_runtime->ops());
  const Scope g(graph);
  const auto of_elements = [&](const char* op) {
    return g.add_one(op, {}, {{"dtype", DType::Float}, {"shape", PartialShape{elements}}});
  };
  const Output zeros =
      g.add_one("Fill", {g.constant(Tensor::vector<int32_t>({elements})), g.constant(Tensor::scalar(0.0f))});
  const Output v = of_elements("VariableV2"), x = of_elements("Placeholder");
  const Output init{g.add("Assign", {v, zeros}), Output::control};
  const Output add{g.add("AssignAdd", {v, x}), Output::control};
  Session session = shared_runtime->session(graph);
  session.run({init});
  const PreparedStep step = session.prepare({x}, {add});
  const Tensor values = session.run({zeros})[0];
  for (auto _ : state) benchmark::DoNotOptimize(step.run({values}));
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

// y = 1; 10,000 times: y = y * x; then the gradient of y by x.
void while_loop_gradient(benchmark::State& state) {
  Runtime runtime({.threads = 1});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const auto number = [](const Scope& s, float value) { return s.constant(Tensor::scalar(value)); };
  const Output x = placeholder(g);
  const auto loop = while_loop(
      g, {number(g, 0), number(g, 1)},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], number(s, 10'000)});
      },
      [&](const Scope& s, auto v) {
        return std::vector{s.add_one("Add", {v[0], number(s, 1)}), s.add_one("Mul", {v[1], x})};
      });
  const Output slope = dense(g, gradients(g, {loop[1]}, {x})[0], x);
  Session session = runtime.session(graph);
  const PreparedStep step = session.prepare({x}, {slope});
  for (auto _ : state) benchmark::DoNotOptimize(step.run({Tensor::scalar(1.0f)}));
}

/// Runs a step with `chains` inputs of the given dtype and shape. make_ends(scope, inputs) adds nodes and returns the fetches.
template <class MakeEnds>
void run_chains(benchmark::State& state, size_t chains, const Tensor& feed, MakeEnds make_ends) {
  Runtime runtime({.threads = static_cast<size_t>(state.range(0))});
  Graph graph(runtime.ops());
  const Scope g(graph);
  std::vector<Output> inputs;
  for (size_t i = 0; i < chains; ++i)  // each chain has its own input, because equal chains would be merged
    inputs.push_back(
        g.add_one("Placeholder", {}, {{"dtype", feed.dtype()}, {"shape", PartialShape(feed.shape())}}));
  const std::vector<Output> ends = make_ends(g, inputs);
  Session session = runtime.session(graph);
  const PreparedStep step = session.prepare(inputs, ends);
  for (auto _ : state) benchmark::DoNotOptimize(step.run(std::vector<Tensor>(chains, feed)));
}

// Two chains of ten Unique ops on 65,536 numbers. Each op uses only one thread.
void independent_chains(benchmark::State& state) {
  std::vector<int32_t> numbers(65536);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i * 2654435761u % 5000);
  run_chains(state, 2, Tensor::vector<int32_t>(numbers), [](const Scope& g, std::vector<Output> ends) {
    for (Output& end : ends)
      for (int i = 0; i < 10; ++i) end = {g.add("Unique", {end}), 1};
    return ends;
  });
}

// Four branches of three products of 192 x 192 matrices, concatenated.
void branches_of_products(benchmark::State& state) {
  const std::vector<float> values(size_t{192} * 192, 0.01f);
  const Tensor feed = Tensor::of<float>(Shape{192, 192}, std::span<const float>(values));
  run_chains(state, 4, feed, [](const Scope& g, std::vector<Output> ends) {
    const std::vector<Output> inputs = ends;
    for (size_t branch = 0; branch < ends.size(); ++branch)
      for (int i = 0; i < 3; ++i) ends[branch] = g.add_one("MatMul", {ends[branch], inputs[branch]});
    ends.push_back(g.constant(Tensor::scalar<int32_t>(1)));
    return std::vector<Output>{g.add_one("ConcatV2", ends)};
  });
}

/// A file of a million records of 16 bytes, as TensorFlow writes them or as lines.
std::string write_records(bool as_lines) {
  std::string record(16, 'r'), length(sizeof(uint64_t), '\0');
  length[0] = static_cast<char>(record.size());
  const auto checksum = [](const std::string& bytes) {
    const uint32_t masked = masked_crc32c(bytes);
    return std::string(reinterpret_cast<const char*>(&masked), sizeof masked);
  };
  const std::string whole = as_lines ? record + '\n' : length + checksum(length) + record + checksum(record);
  std::string path = std::filesystem::temp_directory_path() / (as_lines ? "troupe_lines" : "troupe_records");
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < 1'000'000; ++i) file << whole;
  return path;
}

// ReaderReadUpTo(reader, queue, n), fetched. The queue has the name of the file many times.
void read_up_to(benchmark::State& state, const char* op, bool as_lines) {
  Runtime runtime({.threads = 1});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const std::vector<std::string> names(10'000, write_records(as_lines));
  const Output queue = g.add_one("FIFOQueueV2", {},
                                 {{"component_types", std::vector<DType>{DType::String}},
                                  {"shapes", std::vector<PartialShape>{PartialShape::scalar()}}});
  const Output put{g.add("QueueEnqueueManyV2", {queue, g.constant(Tensor::vector(std::span(names)))}),
                   Output::control};
  const Output n = g.constant(Tensor::scalar<int64_t>(state.range(0)));
  const NodeId read = g.add("ReaderReadUpToV2", {g.add_one(op, {}), queue, n});
  Session session = runtime.session(graph);
  session.run({put});
  const PreparedStep step = session.prepare({}, {{read, 0}, {read, 1}});
  int64_t records = 0;
  for (auto _ : state) records += step.run(std::vector<Tensor>()).at(0).elements();
  state.SetItemsProcessed(records);
  std::filesystem::remove(names[0]);
}

BENCHMARK_CAPTURE(null_step, session_run, false);
BENCHMARK_CAPTURE(null_step, prepared, true);
BENCHMARK(variable_update);
BENCHMARK(independent_updates)
    ->Setup([](const benchmark::State&) {
      shared_runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 1});
    })
    ->Teardown([](const benchmark::State&) { shared_runtime.reset(); })
    ->Unit(benchmark::kMicrosecond)
    ->Arg(100'000)
    ->Arg(250'000)
    ->ThreadRange(1, 2)
    ->UseRealTime();
BENCHMARK(two_devices);
BENCHMARK(chain)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(while_loop_sum, one_device, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(while_loop_sum, two_devices, 2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(while_loop_gradient)->Unit(benchmark::kMillisecond);
BENCHMARK(independent_chains)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(branches_of_products)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

BENCHMARK_CAPTURE(read_up_to, lines, "TextLineReaderV2", true)->Arg(1)->Arg(100)->Arg(10'000)->UseRealTime();
BENCHMARK_CAPTURE(read_up_to, records, "TFRecordReaderV2", false)
    ->Arg(1)
    ->Arg(100)
    ->Arg(10'000)
    ->UseRealTime();

}  // namespace
}  // namespace troupe

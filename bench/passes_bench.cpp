// Measures the master's passes on a graph of 50,000 nodes that resembles training: layers with variables on two parameter servers,
// reads, matrix products, gradients with shapes and constants, and updates. The other nodes are on two workers.
#include <benchmark/benchmark.h>

#include "graph/passes/partition/partition.h"
#include "graph/passes/simplify/simplify.h"
#include "tests/graph/toy_graph.h"

using namespace troupe;
using troupe::testing::ToyGraph;

namespace {

constexpr int layers = 50'000 / 16;

/// Adds a layer of 16 nodes, of which simplification removes 3.
void add_layer(ToyGraph& g, int i, std::vector<Output>& updates, Output& x) {
  const std::string l = "layer" + std::to_string(i) + '/', ps = "/job:ps/task:" + std::to_string(i % 2);
  const std::string worker = "/job:worker/task:" + std::to_string(i * 2 / layers);
  const Output w =
      g.add(l + "w", {"VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{64, 64}}}, {}, ps, {}});
  const Output read = g.on(ps, l + "read", "Identity", {w});
  const Output product = g.on(worker, l + "product", "MatMul", {x, read});
  const Output bias =
      g.op(l + "bias", "Add", {g.op(l + "zero", "Neg", {g.constant(l + "small", 0.1f)}), product});
  const Output active = g.on(worker, l + "active", "Mul", {bias, g.op(l + "same", "Identity", {bias})});
  const Output scaled = g.op(l + "scaled", "Mul", {active, g.constant(l + "one", 1)});
  const Output shape = g.op(l + "shape", "Shape", {product});
  const Output gradient = g.on(worker, l + "gradient", "MatMul", {scaled, read}, {shape.node});
  const Output again = g.on(worker, l + "again", "MatMul", {scaled, read}, {shape.node});
  updates.push_back(g.op(l + "update", "AssignAdd", {w, g.op(l + "sum", "Sub", {gradient, again})}));
  x = scaled;
}

struct Model {
  ToyGraph g;
  Output x, loss, train, early;

  Model() {
    x = g.add("x", {"Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{-1, 64}}}, {}, "", {}});
    std::vector<Output> updates;
    loss = x;
    for (int i = 0; i < layers; ++i) {
      add_layer(g, i, updates, loss);
      if (i == 6) early = loss;
    }
    std::vector<NodeId> control;
    for (const Output& update : updates) control.push_back(update.node);
    train = g.op("train", "NoOp", {}, control);
  }
  RunSignature everything() const { return {{x}, {loss}, {train.node}}; }
};

const Model& model() {
  static const Model instance;
  return instance;
}

Result<std::vector<Tensor>> negate(const Graph&, const Node& node, std::span<const Tensor> inputs) {
  if (node.type() != "Neg") return unimplemented(node.type());
  return std::vector{Tensor::scalar(-inputs[0].as<float>()[0])};
}

bool has_kernel(const Node&, std::string_view) { return true; }

std::vector<DeviceInfo> cluster() {
  std::vector<DeviceInfo> devices;
  for (const char* task : {"/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1",
                           "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"})
    devices.push_back({value_or_throw(DeviceName::parse(std::string(task) + "/device:CPU:0")), 1, 0});
  return devices;
}

void prune(benchmark::State& state) {
  const Graph& graph = model().g.graph();
  for (auto _ : state) benchmark::DoNotOptimize(cut_subgraph(graph, model().everything()));
  state.counters["nodes"] = static_cast<double>(graph.size());
}

void prune_to_100_nodes(benchmark::State& state) {
  const RunSignature signature{{model().x}, {model().early}, {}};
  for (auto _ : state) benchmark::DoNotOptimize(cut_subgraph(model().g.graph(), signature));
}

void simplify_all(benchmark::State& state) {
  const Subgraph cut = value_or_throw(cut_subgraph(model().g.graph(), model().everything()));
  SimplifyReport report;
  for (auto _ : state) {
    state.PauseTiming();
    Subgraph copy = cut;
    state.ResumeTiming();
    report = value_or_throw(simplify(copy, {negate}));
  }
  state.counters["removed"] = static_cast<double>(report.removed);
  state.counters["rounds"] = report.rounds;
}

void place_all(benchmark::State& state) {
  const auto devices = cluster();
  const Subgraph cut = value_or_throw(cut_subgraph(model().g.graph(), model().everything()));
  for (auto _ : state) benchmark::DoNotOptimize(value_or_throw(place(cut.graph, devices, has_kernel)));
}

void partition_all(benchmark::State& state) {
  const auto devices = cluster();
  const Subgraph cut = value_or_throw(cut_subgraph(model().g.graph(), model().everything()));
  const auto placed = value_or_throw(place(cut.graph, devices, has_kernel));
  size_t nodes = 0;
  for (auto _ : state) {
    const auto parts = value_or_throw(partition(cut.graph, placed.device, devices));
    nodes = 0;
    for (const Partition& part : parts) nodes += part.graph.size();
  }
  state.counters["nodes"] = static_cast<double>(nodes);
}

void all_passes(benchmark::State& state) {
  const auto devices = cluster();
  for (auto _ : state) {
    Subgraph cut = value_or_throw(cut_subgraph(model().g.graph(), model().everything()));
    value_or_throw(simplify(cut, {negate}));
    auto placed = value_or_throw(place(cut.graph, devices, has_kernel));
    benchmark::DoNotOptimize(value_or_throw(partition(cut.graph, std::move(placed.device), devices)));
  }
}

void build(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Model());
}

}  // namespace

BENCHMARK(build)->Unit(benchmark::kMillisecond);
BENCHMARK(prune)->Unit(benchmark::kMillisecond);
BENCHMARK(prune_to_100_nodes)->Unit(benchmark::kMillisecond);
BENCHMARK(simplify_all)->Unit(benchmark::kMillisecond);
BENCHMARK(place_all)->Unit(benchmark::kMillisecond);
BENCHMARK(partition_all)->Unit(benchmark::kMillisecond);
BENCHMARK(all_passes)->Unit(benchmark::kMillisecond);

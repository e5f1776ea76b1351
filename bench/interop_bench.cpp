// Measures reading and writing of TensorFlow's graphs: a tree and a chain of 50,000 nodes, with names, inputs and attributes as a
// program writes them. With --graph=FILE, that file is read, too.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

#include "apps/interop/read_graph.h"
#include "apps/interop/write_graph.h"
#include "kernels/core/kernel.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {
namespace {

constexpr size_t nodes = 50'000;

NodeId add(Graph& graph, NodeSpec spec) { return value_or_throw(graph.add(std::move(spec))); }

NodeId add_source(Graph& graph) {
  return add(graph,
             {"source", "Placeholder", {{"dtype", f32}, {"shape", PartialShape{64, 64}}}, {}, {}, {}, {}});
}

Graph chain() {
  Graph graph(op_library()->ops);
  NodeId last = add_source(graph);
  while (graph.size() < nodes)
    last =
        add(graph, {"layer_" + std::to_string(graph.size()) + "/Relu", "Relu", {}, {{last, 0}}, {}, {}, {}});
  return graph;
}

/// Node i adds nodes i / 2 and i / 2 + 1.
Graph tree() {
  Graph graph(op_library()->ops);
  add_source(graph);
  while (graph.size() < nodes) {
    const auto i = static_cast<NodeId>(graph.size());
    add(graph, {"tree/level/add_" + std::to_string(i),
                "Add",
                {},
                {{i / 2, 0}, {std::min(i / 2 + 1, i - 1), 0}},
                {},
                {},
                {}});
  }
  return graph;
}

void read(benchmark::State& state, const std::string& bytes) {
  size_t count = 0;
  for (auto _ : state) {
    const Graph graph = value_or_throw(interop::read_graph_def(bytes, op_library()->ops));
    count = graph.size();
    benchmark::DoNotOptimize(count);
  }
  state.counters["nodes"] = static_cast<double>(count);
  state.counters["MB"] = static_cast<double>(bytes.size()) / 1e6;
}

void write(benchmark::State& state, const Graph& graph, interop::Format format) {
  for (auto _ : state) benchmark::DoNotOptimize(interop::write_graph_def(graph, format));
}

template <class... Arguments>
void measure(const std::string& name, Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(arguments)...)->Unit(benchmark::kMillisecond);
}

void measure_all(const std::string& file) {
  for (const auto& [name, graph] : {std::pair("chain", chain()), std::pair("tree", tree())})
    for (const auto format : {interop::Format::Binary, interop::Format::Text}) {
      const std::string form = format == interop::Format::Binary ? "/binary" : "/text";
      measure("write/" + (name + form), write, graph, format);
      measure("read/" + (name + form), read, interop::write_graph_def(graph, format));
    }
  if (file.empty()) return;
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  measure("read/" + file, read, bytes.str());
}

}  // namespace
}  // namespace troupe::test

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  const std::string option = count > 1 ? arguments[1] : "";
  troupe::test::measure_all(option.starts_with("--graph=") ? option.substr(8) : "");
  benchmark::RunSpecifiedBenchmarks();
}

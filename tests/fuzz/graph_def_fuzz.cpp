// Whatever the bytes are, reading them as a graph ends with a graph or a Status, and a graph that was read can be written and read
// again. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "apps/interop/read_graph.h"
#include "apps/interop/write_graph.h"
#include "tests/support/ops/op_library.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  using namespace troupe;
  static const auto ops = test::op_library()->ops;
  const interop::GraphLimits limits{
      .fields = 100'000, .nodes = 1000, .outputs = 100'000, .constant_bytes = 1 << 20, .function_depth = 16};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto meta = interop::read_meta_graph(bytes, ops, limits)) {
    const auto again =
        interop::read_meta_graph(interop::write_meta_graph(*meta, interop::Format::Binary), ops);
    if (!again || again->saver.has_value() != meta->saver.has_value() ||
        again->collections.size() != meta->collections.size())
      __builtin_trap();
  }
  const auto graph = interop::read_graph_def(bytes, ops, limits);
  if (!graph) return 0;
  const auto again = interop::read_graph_def(interop::write_graph_def(*graph, interop::Format::Binary), ops);
  if (!again || again->size() != graph->size()) __builtin_trap();
  return 0;
}

#include "apps/c/graph.h"

#include "apps/c/graph_handle.h"
#include "apps/c/handles.h"
#include "apps/inference/graph_def.h"
#include "graph/build/gradients.h"
#include "graph/build/variables.h"

namespace troupe::c {
namespace {

static_assert(TROUPE_CONTROL == Output::control);

troupe_graph* handle_of(const std::shared_ptr<Runtime>& runtime, Graph graph) {
  return new troupe_graph{std::make_shared<SharedGraph>(SharedGraph{runtime, std::move(graph)})};
}

template <class Reader>
void read(troupe_runtime* runtime, const void* bytes, size_t size, troupe_graph** graph, Reader reader) {
  const auto& kept = needed(runtime, "runtime").runtime;
  const auto content = array(static_cast<const char*>(bytes), size, "bytes");
  auto& result = needed(graph, "graph");
  result = handle_of(kept, reader({content.data(), content.size()}, kept->ops()));
}

template <class Writer>
void write(const troupe_graph* graph, char** bytes, size_t* size, Writer writer) {
  const Graph& written = needed(graph, "graph").shared->graph;
  auto& result = needed(bytes, "bytes");
  auto& length = needed(size, "size");
  hand_over(writer(written), result, length);
}

}  // namespace

std::vector<Output> outputs_of(const troupe_output* outputs, size_t count, const char* what) {
  std::vector<Output> result;
  for (const troupe_output output : array(outputs, count, what)) result.push_back(output_of(output));
  return result;
}

}  // namespace troupe::c

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace
using troupe::Graph;

troupe_code troupe_graph_create(troupe_runtime* runtime, troupe_graph** graph) {
  return guarded([&] {
    const auto& kept = needed(runtime, "runtime").runtime;
    auto& result = needed(graph, "graph");
    result = handle_of(kept, Graph(kept->ops()));
  });
}

troupe_code troupe_graph_read(troupe_runtime* runtime, const void* bytes, size_t size, troupe_graph** graph) {
  return guarded([&] { read(runtime, bytes, size, graph, troupe::read_graph_def); });
}

troupe_code troupe_graph_read_meta(troupe_runtime* runtime, const void* bytes, size_t size,
                                   troupe_graph** graph) {
  return guarded([&] { read(runtime, bytes, size, graph, troupe::read_meta_graph); });
}

void troupe_graph_destroy(troupe_graph* graph) { delete graph; }

troupe_code troupe_graph_write(const troupe_graph* graph, char** bytes, size_t* size) {
  return guarded([&] { write(graph, bytes, size, troupe::write_graph_def); });
}

troupe_code troupe_graph_write_meta(const troupe_graph* graph, char** bytes, size_t* size) {
  return guarded([&] { write(graph, bytes, size, troupe::write_meta_graph); });
}

troupe_code troupe_graph_find(const troupe_graph* graph, const char* name, troupe_output* output) {
  return guarded([&] {
    const Graph& searched = needed(graph, "graph").shared->graph;
    const std::string wanted = text(name, "name");
    auto& result = needed(output, "output");
    result = output_of(value_or_throw(wanted.starts_with('^') ? searched.find_target(wanted.substr(1))
                                                              : searched.find_output(wanted)));
  });
}

troupe_code troupe_graph_size(const troupe_graph* graph, size_t* nodes) {
  return guarded([&] { needed(nodes, "nodes") = needed(graph, "graph").shared->graph.size(); });
}

troupe_code troupe_graph_node(const troupe_graph* graph, size_t index, const char** name, const char** op) {
  return guarded([&] {
    const auto nodes = needed(graph, "graph").shared->graph.nodes();
    const troupe::Node& node = element(nodes, index, "node");
    auto& name_of_node = needed(name, "name");
    needed(op, "op") = node.op->name.c_str();
    name_of_node = node.name.c_str();
  });
}

troupe_code troupe_graph_gradients(troupe_graph* graph, const troupe_output* ys, size_t y_count,
                                   const troupe_output* xs, size_t x_count, troupe_output* gradients) {
  return guarded([&] {
    const troupe::Scope scope(needed(graph, "graph").shared->graph);
    const auto results = array(gradients, x_count, "gradients");
    const auto by = outputs_of(xs, x_count, "xs");
    const auto all = troupe::gradients(scope, outputs_of(ys, y_count, "ys"), by);
    std::vector<troupe::Output> made;
    for (size_t i = 0; i < x_count; ++i) made.push_back(dense(scope, all[i], by[i]));
    for (size_t i = 0; i < x_count; ++i) results[i] = output_of(made[i]);
  });
}

troupe_code troupe_graph_initializer(troupe_graph* graph, troupe_output* target) {
  return guarded([&] {
    const troupe::Scope scope(needed(graph, "graph").shared->graph);
    auto& result = needed(target, "target");
    result = output_of(full_initializer(scope));
  });
}

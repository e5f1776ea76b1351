#include "apps/c/graph_handle.h"
#include "apps/c/handles.h"

struct troupe_node {
  std::shared_ptr<troupe::c::SharedGraph> graph;
  troupe::NodeSpec spec;
  bool added = false;
};

namespace troupe::c {
namespace {

/// Describes a node that is not in the graph yet.
troupe_node& described_node(troupe_node* node) {
  troupe_node& result = needed(node, "node");
  if (result.added) throw Error(failed_precondition("node " + result.spec.name + " is in the graph already"));
  return result;
}

troupe_code set(troupe_node* node, const char* name, const std::function<AttrValue()>& value) {
  return guarded([&] {
    troupe_node& changed = described_node(node);
    changed.spec.attrs.set(text(name, "name"), value());
  });
}

template <class T>
std::vector<T> copied(const T* values, size_t count) {
  const auto from = array(values, count, "values");
  return {from.begin(), from.end()};
}

PartialShape shape_of(const int64_t* dims, int32_t rank) {
  if (rank == -1) return {};
  if (rank < 0)
    throw Error(invalid_argument("rank is " + std::to_string(rank) +
                                 "; -1 stands for an unknown rank, and other ranks must not be negative"));
  const auto given = array(dims, static_cast<size_t>(rank), "dims");
  return value_or_throw(PartialShape::make({given.begin(), given.end()}));
}

std::vector<std::string> strings_of(const char* const* values, const size_t* lengths, size_t count) {
  if (!lengths) return texts(values, count, "values");
  std::vector<std::string> result;
  const auto from = array(values, count, "values");
  for (size_t i = 0; i < count; ++i)
    result.push_back(bytes_of(&needed(from[i], "values"), lengths[i], "bytes of a string"));
  return result;
}

}  // namespace
}  // namespace troupe::c

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace
using troupe::AttrValue;

troupe_code troupe_node_create(troupe_graph* graph, const char* op, const char* name, troupe_node** node) {
  return guarded([&] {
    const auto& shared = needed(graph, "graph").shared;
    const std::string type = text(op, "op");
    auto& result = needed(node, "node");
    (void)value_or_throw(shared->graph.ops()->require(type));
    auto made = std::make_unique<troupe_node>();
    made->graph = shared;
    made->spec.op = type;
    made->spec.name = name && *name ? name : shared->graph.unique_name(type);
    result = made.release();
  });
}

void troupe_node_destroy(troupe_node* node) { delete node; }

troupe_code troupe_node_input(troupe_node* node, troupe_output input) {
  return guarded([&] { described_node(node).spec.inputs.push_back(output_of(input)); });
}

troupe_code troupe_node_control_input(troupe_node* node, troupe_output source) {
  return guarded([&] {
    troupe_node& changed = described_node(node);
    throw_if_failed(changed.graph->graph.check(output_of(source)));
    changed.spec.control_inputs.push_back(source.node);
  });
}

troupe_code troupe_node_device(troupe_node* node, const char* device) {
  return guarded([&] {
    troupe_node& changed = described_node(node);
    const std::string name = text(device, "device");
    (void)value_or_throw(troupe::DeviceName::parse(name));
    changed.spec.device = name;
  });
}

troupe_code troupe_node_set_int(troupe_node* node, const char* name, int64_t value) {
  return set(node, name, [&] { return value; });
}
troupe_code troupe_node_set_float(troupe_node* node, const char* name, float value) {
  return set(node, name, [&] { return value; });
}
troupe_code troupe_node_set_bool(troupe_node* node, const char* name, bool value) {
  return set(node, name, [&] { return value; });
}
troupe_code troupe_node_set_dtype(troupe_node* node, const char* name, troupe_dtype value) {
  return set(node, name, [&] { return dtype_of(value); });
}
troupe_code troupe_node_set_string(troupe_node* node, const char* name, const char* value, size_t length) {
  return set(node, name, [&] { return bytes_of(value, length, "bytes of value"); });
}
troupe_code troupe_node_set_tensor(troupe_node* node, const char* name, const troupe_tensor* value) {
  return set(node, name, [&] { return needed(value, "value").value; });
}
troupe_code troupe_node_set_shape(troupe_node* node, const char* name, const int64_t* dims, int32_t rank) {
  return set(node, name, [&] { return shape_of(dims, rank); });
}
troupe_code troupe_node_set_ints(troupe_node* node, const char* name, const int64_t* values, size_t count) {
  return set(node, name, [&] { return copied(values, count); });
}
troupe_code troupe_node_set_floats(troupe_node* node, const char* name, const float* values, size_t count) {
  return set(node, name, [&] { return copied(values, count); });
}
troupe_code troupe_node_set_dtypes(troupe_node* node, const char* name, const troupe_dtype* values,
                                   size_t count) {
  return set(node, name, [&] {
    std::vector<troupe::DType> dtypes;
    for (const troupe_dtype value : array(values, count, "values")) dtypes.push_back(dtype_of(value));
    return dtypes;
  });
}
troupe_code troupe_node_set_strings(troupe_node* node, const char* name, const char* const* values,
                                    const size_t* lengths, size_t count) {
  return set(node, name, [&] { return strings_of(values, lengths, count); });
}

troupe_code troupe_node_add(troupe_node* node, troupe_output* added) {
  return guarded([&] {
    troupe_node& complete = described_node(node);
    auto& result = needed(added, "added");
    troupe::Graph& graph = complete.graph->graph;
    const troupe::NodeId id = value_or_throw(graph.add(complete.spec));
    complete.added = true;
    result = output_of(graph.output(id, troupe::Output::control));
  });
}

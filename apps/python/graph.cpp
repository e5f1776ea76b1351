#include "apps/python/graph.h"

#include <pybind11/stl.h>

#include "apps/inference/graph_def.h"
#include "apps/python/calls.h"
#include "apps/python/devices.h"
#include "apps/python/dtypes.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

using GraphClass = py::class_<GraphHandle, GraphRef>;

const Graph& graph_of(const OutputHandle& handle) { return handle.graph->graph; }

py::list nodes_of(const GraphRef& graph) {
  py::list nodes;
  for (const Node& node : graph->graph.nodes()) nodes.append(NodeHandle{graph, node.id});
  return nodes;
}

OutputHandle find_output(const GraphRef& graph, const std::string& name) {
  return {graph, value_or_throw(graph->graph.find_output(name))};
}

NodeHandle find_node(const GraphRef& graph, const std::string& name) {
  return {graph, value_or_throw(graph->graph.find_target(name)).node};
}

/// Returns the given runtime, or that of the process.
std::shared_ptr<RuntimeHandle> runtime_of(const py::object& given) {
  const py::object runtime =
      given.is_none() ? py::module_::import("troupe._runtime").attr("default_runtime")() : given;
  return runtime.cast<std::shared_ptr<RuntimeHandle>>();
}

/// Returns what `read` makes of a file's bytes.
template <Graph (*read)(std::string_view, std::shared_ptr<const OpTable>)>
GraphRef graph_by(const py::bytes& bytes, const py::object& given) {
  const auto runtime = runtime_of(given);
  return GraphRef(new GraphHandle{runtime, read(std::string(bytes), runtime->runtime.ops())});
}

void bind_graph(py::module_& module) {
  GraphClass(module, "Graph", "A graph of operations. Inside of `with graph:`, functions add nodes to it.")
      .def(py::init([](const py::object& given) {
             const auto runtime = runtime_of(given);
             return GraphRef(new GraphHandle{runtime, Graph(runtime->runtime.ops())});
           }),
           py::arg("runtime") = py::none())
      .def_static("from_graph_def", &graph_by<read_graph_def>, py::arg("bytes"),
                  py::arg("runtime") = py::none(), "Returns the graph of a GraphDef of TensorFlow.")
      .def_static("from_meta_graph", &graph_by<read_meta_graph>, py::arg("bytes"),
                  py::arg("runtime") = py::none(),
                  "Returns the graph of a MetaGraphDef of TensorFlow, with its variables and queue runners.")
      .def(
          "graph_def", [](const GraphRef& graph) { return py::bytes(write_graph_def(graph->graph)); },
          "Returns the graph as a GraphDef, which TensorFlow can read if it has all of its ops "
          "(docs/tensorflow.md).")
      .def(
          "meta_graph", [](const GraphRef& graph) { return py::bytes(write_meta_graph(graph->graph)); },
          "Returns the graph as a MetaGraphDef, which TensorFlow can import.")
      .def("scope",
           [](const GraphRef& graph) {
             return ScopeHandle{graph, Scope(graph->graph)};
           })
      .def("output", &find_output, py::arg("name"), "Returns the output called 'name' or 'name:k'.")
      .def("operation", &find_node, py::arg("name"), "Returns the operation of this name.")
      .def("operations", &nodes_of)
      .def(
          "__contains__",
          [](const GraphRef& graph, const std::string& name) { return graph->graph.find(name) != nullptr; },
          py::arg("name"))
      .def("__len__", [](const GraphRef& graph) { return graph->graph.size(); });
}

py::object attribute(const NodeHandle& handle, const std::string& name) {
  const AttrValue* const value = handle.node().attrs.find(name);
  if (!value)
    throw Error(not_found("the operation " + handle.node().name + " of type " + handle.node().type() +
                          " has no attribute '" + name + "'"));
  return from_attribute(*value);
}

py::list node_outputs(const NodeHandle& handle) {
  std::vector<Output> outputs;
  for (uint32_t i = 0; i < handle.node().output_types.size(); ++i)
    outputs.push_back(handle.graph->graph.output(handle.id, i));
  return from_outputs(outputs, handle.graph);
}

py::list node_inputs(const NodeHandle& handle) {
  std::vector<Output> inputs;
  for (const Output& input : handle.node().inputs)
    inputs.push_back(handle.graph->graph.output(input.node, input.index));
  return from_outputs(inputs, handle.graph);
}

py::list node_control_inputs(const NodeHandle& handle) {
  py::list nodes;
  for (const NodeId id : handle.node().control_inputs) nodes.append(NodeHandle{handle.graph, id});
  return nodes;
}

py::list attribute_names(const NodeHandle& handle) {
  py::list names;
  for (const auto& [name, value] : handle.node().attrs) names.append(name);
  return names;
}

void bind_operation(py::module_& module) {
  py::class_<NodeHandle>(module, "Operation", "A node of a graph.")
      .def_property_readonly("name", [](const NodeHandle& handle) { return handle.node().name; })
      .def_property_readonly("type", [](const NodeHandle& handle) { return handle.node().type(); })
      .def_property_readonly("device", [](const NodeHandle& handle) { return handle.node().device; })
      .def_property_readonly("graph", [](const NodeHandle& handle) { return handle.graph; })
      .def_property_readonly("inputs", &node_inputs)
      .def_property_readonly("control_inputs", &node_control_inputs)
      .def_property_readonly("outputs", &node_outputs)
      .def_property_readonly("attributes", &attribute_names)
      .def("attribute", &attribute, py::arg("name"))
      .def(
          "__eq__",
          [](const NodeHandle& a, const NodeHandle& b) { return a.graph == b.graph && a.id == b.id; },
          py::is_operator())
      .def("__hash__",
           [](const NodeHandle& handle) {
             return py::hash(py::make_tuple(handle.graph->graph.stamp(), handle.id));
           })
      .def("__repr__", [](const NodeHandle& handle) {
        return "<troupe.Operation '" + handle.node().name + "' type=" + handle.node().type() + ">";
      });
}

std::string output_text(const OutputHandle& handle) {
  return "<troupe.Output '" + graph_of(handle).name_of(handle.output) +
         "' shape=" + graph_of(handle).shape(handle.output).text() +
         " dtype=" + std::string(name(graph_of(handle).dtype(handle.output))) + ">";
}

/// Outputs are never those of control edges: Operation stands for these.
void bind_output(py::module_& module) {
  py::class_<OutputHandle>(module, "Output", "A tensor of a graph: what a node computes.")
      .def_property_readonly(
          "name", [](const OutputHandle& handle) { return graph_of(handle).name_of(handle.output); })
      .def_property_readonly("dtype",
                             [](const OutputHandle& handle) { return graph_of(handle).dtype(handle.output); })
      .def_property_readonly(
          "shape",
          [](const OutputHandle& handle) { return from_shape(graph_of(handle).shape(handle.output)); })
      .def_property_readonly("graph", [](const OutputHandle& handle) { return handle.graph; })
      .def_property_readonly("op",
                             [](const OutputHandle& handle) {
                               return NodeHandle{handle.graph, handle.output.node};
                             })
      .def_property_readonly("index", [](const OutputHandle& handle) { return handle.output.index; })
      .def(
          "__eq__", [](const OutputHandle& a, const OutputHandle& b) { return a == b; }, py::is_operator())
      .def("__hash__",
           [](const OutputHandle& handle) {
             return static_cast<Py_ssize_t>(OutputHash{}(handle.output) ^
                                            uint64_t{handle.graph->graph.stamp()} << 20);
           })
      .def("__repr__", &output_text);
}

/// Returns what Python sees of the node: its only output, a tuple of outputs, or the operation if it has none.
py::object result_of(const ScopeHandle& scope, NodeId id) {
  const NodeHandle node{scope.graph, id};
  const size_t outputs = node.node().output_types.size();
  if (outputs == 0) return py::cast(node);
  if (outputs == 1) return py::cast(scope.handle(scope.graph->graph.output(id, 0)));
  return py::tuple(node_outputs(node));
}

std::vector<Output> controls_of(const ScopeHandle& scope, const py::handle& sources) {
  std::vector<Output> controls;
  for (Output output : to_outputs(sources, scope.graph)) {
    output.index = Output::control;
    controls.push_back(output);
  }
  return controls;
}

template <Scope (Scope::*change)(std::string_view) const>
ScopeHandle derived(const ScopeHandle& scope, const std::string& text) {
  return {scope.graph, (scope.scope.*change)(text)};
}

void bind_scope(py::module_& module) {
  py::class_<ScopeHandle>(module, "Scope", "Where new nodes go.")
      .def_property_readonly("graph", [](const ScopeHandle& scope) { return scope.graph; })
      .def_property_readonly("prefix", [](const ScopeHandle& scope) { return scope.scope.prefix(); })
      .def("with_prefix", derived<&Scope::with_prefix>, py::arg("prefix"))
      .def("with_name", derived<&Scope::with_name>, py::arg("name"))
      .def("with_device", &with_device, py::arg("device"))
      .def("recomputed", derived<&Scope::recomputed>, py::arg("segment"))
      .def(
          "with_control",
          [](const ScopeHandle& s, const py::object& sources) {
            return ScopeHandle{s.graph, sources.is_none() ? s.scope.without_control()
                                                          : s.scope.with_control(controls_of(s, sources))};
          },
          py::arg("sources"))
      .def(
          "colocated_with",
          [](const ScopeHandle& s, const py::object& output) {
            return ScopeHandle{s.graph, s.scope.colocated_with(to_output(output, s.graph))};
          },
          py::arg("output"))
      .def(
          "add",
          [](const ScopeHandle& s, const std::string& op, const py::tuple& inputs, const py::dict& attrs) {
            return result_of(s, call_op(s, op, inputs, attrs));
          },
          py::arg("op"), py::arg("inputs"), py::arg("attrs"))
      .def(
          "output",
          [](const ScopeHandle& s, const py::object& value, const py::object& dtype) {
            return s.handle(as_output(s, value, dtype.is_none() ? DType::Invalid : to_dtype(dtype)));
          },
          py::arg("value"), py::arg("dtype") = py::none())
      .def(
          "group",
          [](const ScopeHandle& s, const py::object& sources) {
            return NodeHandle{s.graph, s.scope.group(controls_of(s, sources)).node};
          },
          py::arg("sources"));
}

}  // namespace

void bind_graphs(py::module_& module) {
  bind_output(module);
  bind_operation(module);
  bind_scope(module);
  bind_graph(module);
}

}  // namespace troupe::python

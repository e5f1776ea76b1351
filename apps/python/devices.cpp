#include "apps/python/devices.h"

#include <pybind11/stl.h>

#include "apps/python/results.h"
#include "apps/python/values.h"
#include "graph/build/device_function.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// A node that is about to be added to the graph.
struct NewNode {
  GraphRef graph;
  NodeSpec spec;
};

/// A DeviceFunction of C++.
struct DeviceFunctionHandle {
  DeviceFunction function;
};

/// A choice of servers has no graph at hand; the nodes that it is asked about, variables, have no inputs.
py::list new_node_inputs(const NewNode& node) {
  if (!node.graph) return py::list();
  std::vector<Output> inputs;
  for (const Output& input : node.spec.inputs)
    inputs.push_back(node.graph->graph.output(input.node, input.index));
  return from_outputs(inputs, node.graph);
}

py::object attribute(const NewNode& node, const std::string& name) {
  const AttrValue* const value = node.spec.attrs.find(name);
  return value ? from_attribute(*value) : py::none();
}

/// Throws TypeError unless a function of the user has returned what it must.
void check_result(bool is_right, const char* function, const py::object& result, const char* allowed) {
  if (!is_right)
    throw py::type_error("the " + std::string(function) + " returned " + std::string(py::repr(result)) +
                         "; it must return " + allowed);
}

DeviceFunction function_of(const GraphRef& graph, const py::object& callable) {
  return [graph, callable](const Graph&, const NodeSpec& node) -> std::string {
    const py::object device = callable(NewNode{graph, node});
    check_result(device.is_none() || py::isinstance<py::str>(device), "device function", device,
                 "the name of a device or None");
    return device.is_none() ? node.device : device.cast<std::string>();
  };
}

/// Returns the choice of servers: "in_turn", "by_bytes", or a callable that gets a NewNode and returns the number of a task.
TaskChoice choice_of(const py::object& choice, int64_t tasks) {
  if (!py::isinstance<py::str>(choice))
    return [choice](const NodeSpec& node) {
      const py::object task = choice(NewNode{{}, node});
      check_result(PyIndex_Check(task.ptr()) != 0, "choice of parameter servers", task,
                   "the number of a task");
      return task.cast<int64_t>();
    };
  const auto name = choice.cast<std::string>();
  if (name == "in_turn") return in_turn(tasks);
  if (name == "by_bytes") return by_bytes(tasks);
  throw Error(invalid_argument("there is no choice of parameter servers '" + name +
                               "'; it must be 'in_turn', 'by_bytes' or a function"));
}

DeviceFunctionHandle replicas(int64_t ps_tasks, const std::string& ps_device,
                              const std::string& worker_device,
                              const std::optional<std::vector<std::string>>& ps_ops,
                              const py::object& choice) {
  ReplicaDevices options{.ps_tasks = ps_tasks, .ps_device = ps_device, .worker_device = worker_device};
  if (ps_ops) options.ps_ops = *ps_ops;
  if (ps_tasks > 0) options.choice = choice_of(choice, ps_tasks);
  return {replica_devices(std::move(options))};
}

}  // namespace

ScopeHandle with_device(const ScopeHandle& scope, const py::object& device) {
  if (py::isinstance<py::str>(device))
    return {scope.graph, scope.scope.with_device(device.cast<std::string>())};
  if (py::isinstance<DeviceFunctionHandle>(device))
    return {scope.graph, scope.scope.with_device(device.cast<DeviceFunctionHandle>().function)};
  if (!PyCallable_Check(device.ptr()))
    throw py::type_error("a device is a name or a function, not " +
                         std::string(py::str(py::type::of(device))));
  return {scope.graph, scope.scope.with_device(function_of(scope.graph, device))};
}

void bind_devices(py::module_& module) {
  py::class_<NewNode>(module, "NewNode", "A node that is about to be added to a graph.")
      .def_property_readonly("name", [](const NewNode& node) { return node.spec.name; })
      .def_property_readonly("type", [](const NewNode& node) { return node.spec.op; })
      .def_property_readonly("device", [](const NewNode& node) { return node.spec.device; })
      .def_property_readonly("inputs", &new_node_inputs)
      .def("attribute", &attribute, py::arg("name"));
  const py::class_<DeviceFunctionHandle> function(module, "DeviceFunction",
                                                  "Says on which device a new node should run.");
  module.def("replica_devices", &replicas, py::arg("ps_tasks"), py::arg("ps_device"),
             py::arg("worker_device"), py::arg("ps_ops"), py::arg("choice"));
}

}  // namespace troupe::python

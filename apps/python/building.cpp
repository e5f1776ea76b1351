// Conditionals, loops, gradients and variables for Python.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "apps/python/calls.h"
#include "apps/python/graph.h"
#include "apps/python/host_functions.h"
#include "apps/python/results.h"
#include "apps/python/values.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/build/variables.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

py::list build_cond(const ScopeHandle& scope, const py::object& predicate, const py::function& then,
                    const py::function& otherwise) {
  const Output condition = as_output(scope, predicate, DType::Bool);
  return from_outputs(
      cond(scope.scope, condition, branch_of(scope.graph, then), branch_of(scope.graph, otherwise)),
      scope.graph);
}

py::list build_while(const ScopeHandle& scope, const py::list& variables, const py::function& condition,
                     const py::function& body, int64_t parallel_iterations, const std::string& name,
                     const py::object& shapes) {
  const GraphRef& graph = scope.graph;
  std::vector<Output> first;
  for (const py::handle variable : variables) first.push_back(as_output(scope, variable, DType::Invalid));
  WhileOptions options{.parallel_iterations = parallel_iterations, .name = name, .shape_invariants = {}};
  if (!shapes.is_none())
    for (const py::handle shape : shapes) options.shape_invariants.push_back(to_shape(shape));
  const auto list = [&](std::span<const Output> outputs) {
    return from_outputs({outputs.begin(), outputs.end()}, graph);
  };
  const auto goes_on = [&](const Scope& inside, std::span<const Output> values) {
    const ScopeHandle within{graph, inside};
    return as_output(within, condition(within, *list(values)), DType::Bool);
  };
  const auto iterate = [&](const Scope& inside, std::span<const Output> values) {
    const ScopeHandle within{graph, inside};
    return results_of(within, body(within, *list(values)));
  };
  return from_outputs(while_loop(scope.scope, std::move(first), goes_on, iterate, options), graph);
}

/// Dense gradients are outputs, rows are tuples (values, indices, dense_shape), and no gradient is None.
py::object from_gradient(const Gradient& gradient, const GraphRef& graph) {
  if (const auto* const output = std::get_if<Output>(&gradient))
    return py::cast(OutputHandle{graph, *output});
  if (const auto* const rows = std::get_if<IndexedSlices>(&gradient))
    return py::tuple(from_outputs({rows->values, rows->indices, rows->dense_shape}, graph));
  return py::none();
}

py::list build_gradients(const ScopeHandle& scope, const py::object& ys, const py::object& xs,
                         const py::object& grad_ys) {
  std::vector<Gradient> given;
  if (!grad_ys.is_none())
    for (const py::handle one : grad_ys)
      given.push_back(one.is_none() ? Gradient{} : Gradient{as_output(scope, one, DType::Invalid)});
  const std::vector<Output> of = to_outputs(ys, scope.graph);
  if (!grad_ys.is_none() && given.size() != of.size())
    throw Error(invalid_argument("there are " + std::to_string(of.size()) + " ys, but " +
                                 std::to_string(given.size()) + " grad_ys"));
  py::list result;
  for (const Gradient& gradient : gradients(scope.scope, of, to_outputs(xs, scope.graph), given))
    result.append(from_gradient(gradient, scope.graph));
  return result;
}

py::object dense_gradient(const ScopeHandle& scope, const py::object& gradient, const py::object& x) {
  const Gradient from = to_gradient(gradient, scope.graph);
  return py::cast(scope.handle(dense(scope.scope, from, to_output(x, scope.graph))));
}

void bind_variables(py::module_& module) {
  module.def(
      "variable",
      [](const ScopeHandle& scope, const py::object& initial, const std::string& name, bool trainable) {
        return scope.handle(variable(scope.scope, to_output(initial, scope.graph), name, trainable));
      },
      py::arg("scope"), py::arg("initial"), py::arg("name"), py::arg("trainable"));
  module.def(
      "variables", [](const GraphRef& graph) { return from_outputs(variables(graph->graph), graph); },
      py::arg("graph").none(false));
  module.def(
      "trainable_variables",
      [](const GraphRef& graph) { return from_outputs(trainable_variables(graph->graph), graph); },
      py::arg("graph").none(false));
  module.def(
      "initializer",
      [](const ScopeHandle& scope, const py::object& variables) {
        const Output target = variables.is_none()
                                  ? full_initializer(scope.scope)
                                  : initializer(scope.scope, to_outputs(variables, scope.graph));
        return NodeHandle{scope.graph, target.node};
      },
      py::arg("scope"), py::arg("variables"));
  module.def("report_uninitialized_variables", [](const ScopeHandle& scope) {
    return scope.handle(report_uninitialized_variables(scope.scope));
  });
}

}  // namespace

Gradient to_gradient(py::handle value, const GraphRef& graph) {
  if (value.is_none()) return {};
  if (!is_list(value)) return to_output(value, graph);
  const auto rows = to_outputs(value, graph);
  if (rows.size() != 3)
    throw Error(invalid_argument("rows are a tuple of values, indices and a dense shape"));
  return IndexedSlices{rows[0], rows[1], rows[2]};
}

std::vector<Output> results_of(const ScopeHandle& scope, const py::object& results) {
  std::vector<Output> outputs;
  const auto add = [&](py::handle value) {
    if (value.is_none())
      throw Error(invalid_argument("a function that builds nodes returned None; it must return its results"));
    outputs.push_back(py::isinstance<NodeHandle>(value) ? to_output(value, scope.graph)
                                                        : as_output(scope, value, DType::Invalid));
  };
  if (is_list(results))
    for (const py::handle value : results) add(value);
  else
    add(results);
  return outputs;
}

Branch branch_of(const GraphRef& graph, const py::function& function) {
  return [graph, function](const Scope& inside) {
    const ScopeHandle scope{graph, inside};
    return results_of(scope, function(scope));
  };
}

void bind_building(py::module_& module) {
  module.def("cond", &build_cond, py::arg("scope"), py::arg("predicate"), py::arg("then"),
             py::arg("otherwise"));
  module.def("while_loop", &build_while, py::arg("scope"), py::arg("variables"), py::arg("condition"),
             py::arg("body"), py::arg("parallel_iterations"), py::arg("name"), py::arg("shape_invariants"));
  module.def("gradients", &build_gradients, py::arg("scope"), py::arg("ys"), py::arg("xs"),
             py::arg("grad_ys"));
  module.def("dense", &dense_gradient, py::arg("scope"), py::arg("gradient"), py::arg("x"));
  bind_variables(module);
  bind_functional(module);
  bind_host_functions(module);
  bind_input_queues(module);
}

}  // namespace troupe::python

// What functions of Python that build parts of a graph return. Needs the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "apps/python/handles.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"

namespace troupe::python {

/// Returns the outputs that a function returned: one, a list of them, or values of which constants are made.
std::vector<Output> results_of(const ScopeHandle& scope, const pybind11::object& results);
/// Returns the gradient that an output, rows as a list (values, indices, dense_shape), or None stands for.
Gradient to_gradient(pybind11::handle value, const GraphRef& graph);
/// Returns a function of Python as a branch. It takes the scope first.
Branch branch_of(const GraphRef& graph, const pybind11::function& function);

}  // namespace troupe::python

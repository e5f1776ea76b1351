// Graphs, their nodes and edges, and the scopes in which nodes are added, as classes of Python. The functions of troupe/scopes.py
// and troupe/ops.py call them.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

void bind_graphs(pybind11::module_& module);
/// Conditionals, loops, gradients and variables.
void bind_building(pybind11::module_& module);
/// Maps, folds, scans and cases.
void bind_functional(pybind11::module_& module);
/// Input through queues.
void bind_input_queues(pybind11::module_& module);

}  // namespace troupe::python

// Calls of op functions from Python: troupe.ops.mat_mul(a, b). Inputs are outputs of the graph or values of which constants are
// made. Needs the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

#include "apps/python/handles.h"

namespace troupe::python {

/// Adds a node of the op with this name. `inputs` has one element for each argument of the op, a list for one that takes several
/// tensors. `attrs` has values of attributes; None: the default, or what follows from the inputs, such as the lengths of lists. A
/// value that is no output becomes a constant with the type that the argument has, by itself, by an attribute, or by the other
/// inputs; see as_output() for lists.
NodeId call_op(const ScopeHandle& scope, const std::string& op, const pybind11::tuple& inputs,
               const pybind11::dict& attrs);
/// Returns the value as an output: itself, a constant, or for a list with outputs the stack of its elements, which has the type of
/// the outputs.
Output as_output(const ScopeHandle& scope, pybind11::handle value, DType wanted);
/// Returns the value if it is an output, or the first output in a list or in the lists in it; null if there is none.
pybind11::handle first_output(pybind11::handle value);

}  // namespace troupe::python

// Values of Python as values of Troupe: shapes, attributes of nodes, lists of tensors. They need the global interpreter lock, and
// throw Error(InvalidArgument) for values that do not fit.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "apps/python/handles.h"
#include "graph/ops/attributes.h"

namespace troupe::python {

/// A list or tuple of sizes, None or -1 for those that are not known; None: a shape of unknown rank.
PartialShape to_shape(pybind11::handle value);
pybind11::object from_shape(const PartialShape& shape);

AttrValue to_attribute(pybind11::handle value, AttrKind kind);
pybind11::object from_attribute(const AttrValue& value);

bool is_list(pybind11::handle value);
/// Returns the output that an Output stands for, an Operation (as a control output), or the name of one. Throws InvalidArgument,
/// too, if it belongs to another graph.
Output to_output(pybind11::handle value, const GraphRef& graph);
std::vector<Output> to_outputs(pybind11::handle value, const GraphRef& graph);
pybind11::list from_outputs(const std::vector<Output>& outputs, const GraphRef& graph);

/// Returns "a list", "an int" and so on, for errors.
std::string type_text(pybind11::handle value);

}  // namespace troupe::python

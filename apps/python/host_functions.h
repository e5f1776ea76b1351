// Functions of Python as nodes of graphs, and gradients that functions of Python build. Needs the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

void bind_host_functions(pybind11::module_& module);

}  // namespace troupe::python

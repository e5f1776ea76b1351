// Runtimes and sessions as classes of Python. Steps run without the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

void bind_runtime(pybind11::module_& module);
void bind_session(pybind11::module_& module);

}  // namespace troupe::python

// Failures as exceptions of Python: troupe.Error and a class for each code (troupe/errors.py). Needs the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

/// From now on troupe::Error becomes the exception of its code.
void bind_errors(pybind11::module_& module);

}  // namespace troupe::python

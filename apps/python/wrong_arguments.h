// Arguments that do not fit a function of the extension module. pybind11 answers them with a TypeError that lists signatures with
// types of C++; troupe/_arguments.py says instead which argument is wrong. Needs the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

/// Has all functions and methods of the module raise TypeErrors for people. Called once, when all of them are bound.
void explain_wrong_arguments(pybind11::module_& module);

}  // namespace troupe::python

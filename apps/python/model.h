// Trained models as a class of Python (apps/inference/model.h). They compute without the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

void bind_models(pybind11::module_& module);

}  // namespace troupe::python

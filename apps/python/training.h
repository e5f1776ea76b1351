// Run files as classes of Python: trainings with callbacks (apps/training.h), and samples batch by batch (apps/samples.h).
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

void bind_training(pybind11::module_& module);
void bind_samples(pybind11::module_& module);

}  // namespace troupe::python

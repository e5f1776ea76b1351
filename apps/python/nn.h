// Optimizers, losses and layers (apps/nn) for Python. Names and defaults are those of C++ and of run files.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

void bind_optimizers(pybind11::module_& module);
void bind_losses(pybind11::module_& module);
void bind_layers(pybind11::module_& module);
void bind_ragged_rows(pybind11::module_& module);

}  // namespace troupe::python

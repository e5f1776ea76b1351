// The op table for Python: what write_ops.py needs to write the module troupe.ops.
#pragma once

#include <pybind11/pybind11.h>

namespace troupe::python {

void bind_op_table(pybind11::module_& module);

}  // namespace troupe::python

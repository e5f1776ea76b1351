// The types of elements between Python and Troupe: what users name a type by, and the NumPy types that hold the same bytes. Needs
// the global interpreter lock (GIL).
#pragma once

#include <pybind11/pybind11.h>

#include "messages/values/dtype.h"

namespace troupe::python {

void bind_dtypes(pybind11::module_& module);

/// Returns the type that a value of Python names: a DType, a name ("float32"), a type of Python (float) or a type of NumPy. Throws
/// Error(InvalidArgument) if there is none.
DType to_dtype(pybind11::handle value);

/// Returns the NumPy type of elements of this type (a borrowed reference that lives as long as the process). bfloat16 is that of
/// ml_dtypes, or uint16 without ml_dtypes; quantised types are the integers that store them; strings are objects. Throws
/// Error(InvalidArgument) for types that NumPy cannot hold.
PyObject* numpy_type(DType dtype);
/// Returns the type of elements of an array of this NumPy type; Invalid if there is none. Strings in any form are String.
DType dtype_of_numpy(PyObject* type);

}  // namespace troupe::python

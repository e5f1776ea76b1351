// Arrays and tensors of strings. Their elements are copied, since NumPy and Troupe store them differently. Needs the global
// interpreter lock (GIL).
#pragma once

#include <pybind11/pybind11.h>

#include "messages/values/tensor.h"

namespace troupe::python {

/// Returns the strings of an array of objects (bytes or str, which becomes UTF-8), of bytes or of text. Throws
/// Error(InvalidArgument) for other elements.
Tensor strings_of_array(pybind11::handle array, const Shape& shape);
/// Returns an array of bytes objects; a scalar is a bytes object.
pybind11::object array_of_strings(const Tensor& tensor);

}  // namespace troupe::python

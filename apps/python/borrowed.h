// Buffers whose bytes belong to NumPy arrays. Any thread may drop the last reference to such a buffer; the array is released by the
// next thread that holds the global interpreter lock (GIL) and calls release_arrays(), at the latest the main thread between two
// instructions of Python.
#pragma once

#include <pybind11/pybind11.h>

#include "messages/values/buffer.h"

namespace troupe::python {

/// Returns a buffer of the bytes of an array, which it keeps alive. Needs the GIL.
BufferRef borrow(pybind11::object array, void* data, size_t bytes);
/// Returns whether the bytes belong to an array.
bool is_borrowed(const BufferRef& buffer);
/// Releases the arrays of buffers that were dropped. Needs the GIL.
void release_arrays();

}  // namespace troupe::python

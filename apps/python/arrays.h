// Tensors and NumPy arrays, without copies: a tensor made of an array refers to its bytes and keeps it alive, and an array made of
// a tensor keeps the tensor alive. Tensors may be released by any thread, also without the global interpreter lock (GIL); the
// arrays that they refer to are released later, by a thread that holds it. All functions need the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::python {

/// Whether a tensor may refer to the memory of an array.
enum class Bytes : uint8_t {
  Shared,  ///< where possible: the array is of the wanted type, contiguous and aligned
  Copied,
};

/// Returns the value of a NumPy array, or of what NumPy makes an array of (numbers, lists, bytes, text). `wanted` is the type of
/// its elements; Invalid: that of the array, and for values of Python bool, int32, int64 if int32 is too small, float, complex64
/// or string. Throws Error(InvalidArgument) if elements cannot be converted within their kind: floats to integers, for example.
Tensor to_tensor(pybind11::handle value, DType wanted = DType::Invalid, Bytes bytes = Bytes::Shared);

/// Returns the value as an array, a scalar as a NumPy scalar, strings as bytes. An array of more than a few bytes refers to the
/// memory of the tensor, and can be written to only if no other tensor shares it. `keep` lives at least as long as that memory.
pybind11::object to_array(Tensor tensor, const std::shared_ptr<void>& keep = nullptr);

/// Takes tensors of a step that has ended. Those whose arrays are still in use elsewhere stay alive, so that nobody takes the
/// memory of an array for its own, until nothing uses them.
void keep_while_used(std::vector<Tensor>&& tensors);

void bind_tensors(pybind11::module_& module);

}  // namespace troupe::python

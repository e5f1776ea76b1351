// What a user fetches, as in TensorFlow: an output, an operation, the name of one, or a list, tuple, named tuple or dictionary of
// such, nested in any way. The results have the same structure; that of an operation is None. Needs the global interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "apps/python/handles.h"
#include "messages/values/tensor.h"

namespace troupe::python {

class Fetches {
 public:
  /// Throws InvalidArgument for what cannot be fetched, or belongs to another graph.
  Fetches(const pybind11::object& structure, GraphRef graph);
  const std::vector<Output>& outputs() const { return outputs_; }
  /// Returns the values of the outputs in the structure of the fetches. Takes one tensor for each output that is no operation.
  pybind11::object results(std::vector<Tensor> tensors) const;

 private:
  /// Adds the outputs, and returns the structure without them: what the caller does with its own does not matter later.
  pybind11::object collect(pybind11::handle structure);
  pybind11::object rebuilt(pybind11::handle structure, size_t& next,
                           std::vector<pybind11::object>& values) const;

  pybind11::object structure_;
  GraphRef graph_;
  std::vector<Output> outputs_;
};

}  // namespace troupe::python

// Ragged tensors for Python: computing with rows of different lengths, which are given as values and splits.
#include "apps/nn/ragged/ragged.h"

#include <pybind11/stl.h>

#include "apps/python/calls.h"
#include "apps/python/nn.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

nn::Ragged ragged(const ScopeHandle& scope, const py::object& values, const py::object& row_splits) {
  return nn::ragged::from_row_splits(scope.scope, as_output(scope, values, DType::Invalid),
                                     as_output(scope, row_splits, DType::Invalid));
}

void bind_row_function(py::module_& module, const char* name,
                       Output (*function)(const Scope&, const nn::Ragged&)) {
  module.def(
      name,
      [function](const ScopeHandle& scope, const py::object& values, const py::object& row_splits) {
        return scope.handle(function(scope.scope, ragged(scope, values, row_splits)));
      },
      py::arg("scope"), py::arg("values"), py::arg("row_splits"));
}

Output row_softmax(const Scope& scope, const nn::Ragged& x) { return nn::ragged::softmax(scope, x).values; }

}  // namespace

void bind_ragged_rows(py::module_& module) {
  bind_row_function(module, "row_lengths", &nn::ragged::row_lengths);
  bind_row_function(module, "row_max", &nn::ragged::max);
  bind_row_function(module, "row_mean", &nn::ragged::mean);
  bind_row_function(module, "row_min", &nn::ragged::min);
  bind_row_function(module, "row_softmax", &row_softmax);
  bind_row_function(module, "row_sum", &nn::ragged::sum);
  module.def(
      "row_spread",
      [](const ScopeHandle& scope, const py::object& of_rows, const py::object& values,
         const py::object& row_splits) {
        const Output rows = as_output(scope, of_rows, DType::Invalid);
        return scope.handle(nn::ragged::spread(scope.scope, rows, ragged(scope, values, row_splits)));
      },
      py::arg("scope"), py::arg("of_rows"), py::arg("values"), py::arg("row_splits"));
}

}  // namespace troupe::python

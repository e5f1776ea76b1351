#include "apps/python/fetches.h"

#include "apps/python/arrays.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;

Fetches::Fetches(py::object structure, GraphRef graph)
    : structure_(std::move(structure)), graph_(std::move(graph)) {
  collect(structure_);
}

void Fetches::collect(py::handle structure) {
  if (is_list(structure)) {
    for (const py::handle element : structure) collect(element);
  } else if (PyDict_Check(structure.ptr())) {
    for (const auto& [key, element] : py::reinterpret_borrow<py::dict>(structure)) collect(element);
  } else {
    const Output output = to_output(structure, graph_);
    if (const Status status = graph_->graph.check(output); !status.ok())
      throw Error(
          invalid_argument("the fetch " + py::repr(structure).cast<std::string>() + " " + status.text()));
    outputs_.push_back(output);
  }
}

py::object Fetches::results(std::vector<Tensor> tensors) const {
  std::vector<py::object> values;
  values.reserve(outputs_.size());
  size_t next = 0;
  for (const Output& output : outputs_)
    values.push_back(output.is_control() ? py::object(py::none())
                                         : to_array(std::move(tensors[next++]), graph_->runtime));
  size_t i = 0;
  return rebuilt(structure_, i, values);
}

py::object Fetches::rebuilt(py::handle structure, size_t& next, std::vector<py::object>& values) const {
  if (PyDict_Check(structure.ptr())) {
    py::dict result;
    for (const auto& [key, element] : py::reinterpret_borrow<py::dict>(structure))
      result[key] = rebuilt(element, next, values);
    return result;
  }
  if (!is_list(structure)) return std::move(values[next++]);
  py::list result;
  for (const py::handle element : structure) result.append(rebuilt(element, next, values));
  if (PyList_Check(structure.ptr())) return result;
  if (py::hasattr(structure, "_fields")) return py::type::of(structure)(*result);
  return py::tuple(result);
}

}  // namespace troupe::python

#include "apps/python/fetches.h"

#include "apps/python/arrays.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;

namespace {

/// Fails with RecursionError if structures are nested too deeply, such as a list that contains itself.
class Depth {
 public:
  Depth() {
    if (Py_EnterRecursiveCall(" in fetches") != 0) throw py::error_already_set();
  }
  ~Depth() { Py_LeaveRecursiveCall(); }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
};

/// Returns the elements as a list or tuple of the type of `like`.
py::object list_like(py::handle like, const py::list& elements) {
  if (PyList_Check(like.ptr())) return elements;
  if (py::hasattr(like, "_fields")) return py::type::of(like)(*elements);
  return py::tuple(elements);
}

}  // namespace

Fetches::Fetches(const py::object& structure, GraphRef graph) : graph_(std::move(graph)) {
  structure_ = collect(structure);
}

py::object Fetches::collect(py::handle structure) {
  const Depth depth;
  if (is_list(structure)) {
    py::list elements;
    for (const py::handle element : structure) elements.append(collect(element));
    return list_like(structure, elements);
  }
  if (PyDict_Check(structure.ptr())) {
    py::dict elements;
    for (const auto& [key, element] : py::reinterpret_borrow<py::dict>(structure))
      elements[key] = collect(element);
    return elements;
  }
  outputs_.push_back(to_output(structure, graph_));
  return py::none();
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
  py::list elements;
  for (const py::handle element : structure) elements.append(rebuilt(element, next, values));
  return list_like(structure, elements);
}

}  // namespace troupe::python

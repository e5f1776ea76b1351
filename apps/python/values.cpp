#include "apps/python/values.h"

#include "apps/python/arrays.h"
#include "apps/python/dtypes.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

[[noreturn]] void fail(py::handle value, std::string_view wanted) {
  throw Error(invalid_argument("a value must be " + std::string(wanted) + ", but is " +
                               py::repr(value).cast<std::string>() + " of type " + type_text(value)));
}

/// Returns the value as an integer, also one of NumPy, but not a bool or a float.
int64_t to_int(py::handle value) {
  if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) fail(value, "an integer");
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  int overflow = 0;
  const int64_t result = number ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow) : 0;
  if (!number || overflow != 0) {
    PyErr_Clear();
    fail(value, "an integer of 64 bits");
  }
  return result;
}

float to_float(py::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    fail(value, "a number");
  }
  return static_cast<float>(number);
}

bool to_bool(py::handle value) {
  const int truth = py::isinstance<py::str>(value) || is_list(value) ? -1 : PyObject_IsTrue(value.ptr());
  if (truth < 0) {
    PyErr_Clear();
    fail(value, "True or False");
  }
  return truth != 0;
}

std::string to_text(py::handle value) {
  if (!py::isinstance<py::str>(value) && !py::isinstance<py::bytes>(value)) fail(value, "text or bytes");
  return value.cast<std::string>();
}

template <class Element>
auto list_of(py::handle value, Element element) {
  std::vector<decltype(element(value))> list;
  if (!is_list(value)) fail(value, "a list");
  for (const py::handle one : value) list.push_back(element(one));
  return list;
}

void require_graph(py::handle value, const GraphRef& present, const GraphRef& wanted) {
  if (present != wanted)
    throw Error(invalid_argument(py::repr(value).cast<std::string>() + " belongs to another graph"));
}

struct FromAttribute {
  py::object operator()(const std::string& value) const { return py::bytes(value); }
  py::object operator()(int64_t value) const { return py::int_(value); }
  py::object operator()(float value) const { return py::float_(static_cast<double>(value)); }
  py::object operator()(bool value) const { return py::bool_(value); }
  py::object operator()(DType value) const { return py::cast(value); }
  py::object operator()(const PartialShape& value) const { return from_shape(value); }
  py::object operator()(const Tensor& value) const { return to_array(value); }
  py::object operator()(const FunctionName& value) const { return py::str(value.name); }
  template <class T>
  py::object operator()(const std::vector<T>& values) const {
    py::list list;
    for (const T& value : values) list.append((*this)(value));
    return list;
  }
};

}  // namespace

std::string type_text(py::handle value) { return py::type::of(value).attr("__name__").cast<std::string>(); }

bool is_list(py::handle value) { return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()); }

PartialShape to_shape(py::handle value) {
  if (value.is_none()) return {};
  if (PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr())) return PartialShape::vector(to_int(value));
  return value_or_throw(PartialShape::make(
      list_of(value, [](py::handle dim) { return dim.is_none() ? unknown_dim : to_int(dim); })));
}

py::object from_shape(const PartialShape& shape) {
  if (!shape.known_rank()) return py::none();
  py::tuple dims(shape.rank());
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i] = shape[i] == unknown_dim ? py::object(py::none()) : py::object(py::int_(shape[i]));
  return dims;
}

AttrValue to_attribute(py::handle value, AttrKind kind) {
  const auto function = [](py::handle name) { return FunctionName{to_text(name)}; };
  const auto tensor = [](py::handle one) { return to_tensor(one, DType::Invalid, Bytes::Copied); };
  switch (kind) {
    case AttrKind::String: return to_text(value);
    case AttrKind::Int: return to_int(value);
    case AttrKind::Float: return to_float(value);
    case AttrKind::Bool: return to_bool(value);
    case AttrKind::Type: return to_dtype(value);
    case AttrKind::Shape: return to_shape(value);
    case AttrKind::Tensor: return tensor(value);
    case AttrKind::Function: return function(value);
    case AttrKind::Strings: return list_of(value, to_text);
    case AttrKind::Ints: return list_of(value, to_int);
    case AttrKind::Floats: return list_of(value, to_float);
    case AttrKind::Bools: return list_of(value, to_bool);
    case AttrKind::Types: return list_of(value, to_dtype);
    case AttrKind::Shapes: return list_of(value, to_shape);
    case AttrKind::Tensors: return list_of(value, tensor);
    case AttrKind::Functions: return list_of(value, function);
  }
  fail(value, "of a known kind");
}

py::object from_attribute(const AttrValue& value) { return std::visit(FromAttribute{}, value); }

Output to_output(py::handle value, const GraphRef& graph) {
  if (py::isinstance<OutputHandle>(value)) {
    const auto& handle = value.cast<const OutputHandle&>();
    require_graph(value, handle.graph, graph);
    return handle.output;
  }
  if (py::isinstance<NodeHandle>(value)) {
    const auto& node = value.cast<const NodeHandle&>();
    require_graph(value, node.graph, graph);
    return graph->graph.output(node.id, Output::control);
  }
  if (py::isinstance<py::str>(value)) {
    const auto name = value.cast<std::string>();
    return value_or_throw(name.starts_with('^') || !graph->graph.find(name) ||
                                  !graph->graph.find(name)->output_types.empty()
                              ? graph->graph.find_output(name)
                              : graph->graph.find_target(name));
  }
  fail(value, "an output or operation of a graph, or the name of one");
}

std::vector<Output> to_outputs(py::handle value, const GraphRef& graph) {
  if (!is_list(value)) return {to_output(value, graph)};
  return list_of(value, [&](py::handle one) { return to_output(one, graph); });
}

py::list from_outputs(const std::vector<Output>& outputs, const GraphRef& graph) {
  py::list list;
  for (const Output& output : outputs) list.append(py::cast(OutputHandle{graph, output}));
  return list;
}

}  // namespace troupe::python

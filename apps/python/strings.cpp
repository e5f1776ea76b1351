#include "apps/python/strings.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// Returns whether an integer of Python is one of int64 or uint64.
bool fits_integers(py::handle integer) {
  int overflow = 0;
  (void)PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow <= 0) return overflow == 0;
  (void)PyLong_AsUnsignedLongLong(integer.ptr());
  const bool fits = !PyErr_Occurred();
  PyErr_Clear();
  return fits;
}

/// Says why an element, which NumPy took for an object of its own, is no element of a tensor.
std::string mistake_in(py::handle element) {
  if (element.is_none()) return "None is no value of a tensor";
  const bool is_integer = PyLong_Check(element.ptr());
  if (PyFloat_Check(element.ptr()) || (is_integer && fits_integers(element)))
    return "the number " + py::str(element).cast<std::string>() +
           " stands beside texts or other values; all elements of a tensor are of one kind";
  if (is_integer)
    return "the integer " + py::str(element).cast<std::string>() + " fits neither int64 nor uint64";
  if (PyUnicode_Check(element.ptr())) return "a text has characters that UTF-8 does not have";
  return "a value of type " + py::str(py::type::of(element).attr("__name__")).cast<std::string>() +
         " is no number, text or bytes; a tensor is made of these, and of nested lists of them that have "
         "equal lengths";
}

std::string text_of(py::handle element) {
  if (PyBytes_Check(element.ptr()))
    return {PyBytes_AS_STRING(element.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(element.ptr()))};
  Py_ssize_t size = 0;
  const char* const text =
      PyUnicode_Check(element.ptr()) ? PyUnicode_AsUTF8AndSize(element.ptr(), &size) : nullptr;
  if (!text) {
    PyErr_Clear();
    throw Error(invalid_argument(mistake_in(element)));
  }
  return {text, static_cast<size_t>(size)};
}

py::bytes bytes_of(const std::string& text) { return py::bytes(text.data(), text.size()); }

}  // namespace

Tensor strings_of_array(py::handle array, const Shape& shape) {
  Tensor tensor = value_or_throw(Tensor::allocate(DType::String, shape));
  size_t i = 0;
  const auto elements = tensor.write<std::string>();
  for (const py::handle element : array.attr("flat")) elements[i++] = text_of(element);
  return tensor;
}

py::object array_of_strings(const Tensor& tensor) {
  const auto elements = tensor.as<std::string>();
  if (tensor.shape().is_scalar()) return bytes_of(elements[0]);
  py::tuple dims(tensor.shape().rank());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = tensor.shape()[i];
  py::object array = py::module_::import("numpy").attr("empty")(dims, "object");
  const py::object flat = array.attr("reshape")(-1);
  for (size_t i = 0; i < elements.size(); ++i) flat[py::int_(i)] = bytes_of(elements[i]);
  return array;
}

}  // namespace troupe::python

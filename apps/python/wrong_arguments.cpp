#include "apps/python/wrong_arguments.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// Returns where a function of C has what Python calls.
PyCFunction& entry_of(py::handle function) {
  return reinterpret_cast<PyCFunctionObject*>(function.ptr())->m_ml->ml_meth;
}

/// Returns what Python calls for every function of pybind11.
PyCFunction dispatcher() {
  static const PyCFunction function = entry_of(py::cpp_function([] {}));
  return function;
}

/// Replaces the TypeError of pybind11 that is set, if it is one about the arguments or about a value in them. Other ones stay, also
/// those of functions of the user that the call has called, which have a traceback.
void explain(py::handle args, py::handle kwargs) {
  py::error_already_set error;
  if (!error.trace()) {
    try {
      const py::object explained = py::module_::import("troupe._arguments").attr("explained");
      const py::object text = explained(py::str(error.value()), args, kwargs ? kwargs : py::none());
      if (!text.is_none()) return PyErr_SetObject(PyExc_TypeError, text.ptr());
    } catch (py::error_already_set&) {  // the text of pybind11 stays
    }
  }
  error.restore();
}

PyObject* call_explained(PyObject* self, PyObject* args, PyObject* kwargs) {
  const auto call = reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(dispatcher()));
  PyObject* const result = call(self, args, kwargs);
  if (!result && PyErr_ExceptionMatches(PyExc_TypeError)) explain(args, kwargs);
  return result;
}

void explain_function(py::handle function) {
  if (!function || !PyCFunction_Check(function.ptr()) || entry_of(function) != dispatcher()) return;
  entry_of(function) = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_explained));
}

/// Does so for a member of a class that is a method or a static method.
void explain_member(py::handle member) {
  if (PyInstanceMethod_Check(member.ptr())) {
    explain_function(PyInstanceMethod_GET_FUNCTION(member.ptr()));
  } else if (PyObject_TypeCheck(member.ptr(), &PyStaticMethod_Type)) {
    explain_function(py::object(member.attr("__func__")));
  }
}

py::list values_of(py::handle thing) { return py::list(thing.attr("__dict__").attr("values")()); }

}  // namespace

void explain_wrong_arguments(py::module_& module) {
  for (const py::handle value : values_of(module)) {
    explain_function(value);
    if (!PyType_Check(value.ptr())) continue;
    for (const py::handle member : values_of(value)) explain_member(member);
  }
}

}  // namespace troupe::python

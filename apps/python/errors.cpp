#include "apps/python/errors.h"

#include "messages/values/status.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// A text may quote bytes of a file that are not UTF-8.
py::object text_of(const std::string& text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!decoded) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(decoded);
}

/// Ctrl-C, if it is pending, is raised in place of the error: what it interrupts often fails.
void raise(const Status& status) {
  if (PyErr_CheckSignals() != 0) return;
  const py::object make = py::module_::import("troupe.errors").attr("error_of");
  const py::object error =
      make(static_cast<int>(status.code()), text_of(status.message()), text_of(status.text()),
           text_of(status.op()), text_of(status.node()), text_of(status.device()), status.step());
  PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
}

}  // namespace

void bind_errors(py::module_& module) {
  py::register_local_exception_translator([](std::exception_ptr failure) {
    try {
      std::rethrow_exception(std::move(failure));
    } catch (const Error& error) {
      raise(error.status());
    } catch (const py::cast_error& error) {
      PyErr_SetString(PyExc_TypeError, error.what());
    }
  });
  module.def(
      "fail_with",
      [](int code, const std::string& text) { throw Error(Status(static_cast<Code>(code), text)); },
      "Fails with this code, for tests.");
}

}  // namespace troupe::python

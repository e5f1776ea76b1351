#include "apps/python/errors.h"

#include "messages/values/status.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

void raise(const Status& status) {
  const py::object make = py::module_::import("troupe.errors").attr("error_of");
  const py::object error = make(static_cast<int>(status.code()), status.message(), status.text(), status.op(),
                                status.node(), status.device(), status.step());
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

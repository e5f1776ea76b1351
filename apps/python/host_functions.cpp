#include "apps/python/host_functions.h"

#include <pybind11/stl.h>

#include <cstring>
#include <functional>
#include <utility>

#include "apps/python/arrays.h"
#include "apps/python/calls.h"
#include "apps/python/dtypes.h"
#include "apps/python/gil.h"
#include "apps/python/results.h"
#include "apps/python/values.h"
#include "graph/build/custom_gradient.h"
#include "graph/build/host_function.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

// ---- Calls, which threads of the runtime make

/// Returns a function that threads without the GIL may drop.
std::shared_ptr<const py::function> shared(py::function function) {
  return {new py::function(std::move(function)), [](const py::function* dropped) {
            const PythonCall call;
            if (!call.allowed() || !Py_IsInitialized()) return;  // it ends with the process
            const py::gil_scoped_acquire gil;
            delete dropped;
          }};
}

/// Drops a runtime that this thread, one of its own, may be the last to hold, on the main thread: a runtime waits for its threads.
void drop_on_main_thread(std::shared_ptr<RuntimeHandle> runtime) {
  if (runtime.use_count() > 2) return;
  const auto drop = [](void* held) {
    delete static_cast<std::shared_ptr<RuntimeHandle>*>(held);
    return 0;
  };
  (void)Py_AddPendingCall(drop, new std::shared_ptr<RuntimeHandle>(std::move(runtime)));
}

Code code_of(const py::error_already_set& error) {
  static constexpr std::pair<PyObject**, Code> codes[] = {
      {&PyExc_StopIteration, Code::OutOfRange},    {&PyExc_ValueError, Code::InvalidArgument},
      {&PyExc_TypeError, Code::InvalidArgument},   {&PyExc_MemoryError, Code::ResourceExhausted},
      {&PyExc_KeyboardInterrupt, Code::Cancelled}, {&PyExc_NotImplementedError, Code::Unimplemented}};
  for (const auto& [type, code] : codes)
    if (error.matches(*type)) return code;
  return Code::Unknown;
}

/// Returns " (in NAME, FILE:LINE)" for the function in which an exception was raised.
std::string place_of(const py::error_already_set& error) {
  py::object frame = error.trace();
  if (!frame || frame.is_none()) return {};
  while (!frame.attr("tb_next").is_none()) frame = frame.attr("tb_next");
  const py::object code = frame.attr("tb_frame").attr("f_code");
  return " (in " + py::str(code.attr("co_name")).cast<std::string>() + ", " +
         py::str(code.attr("co_filename")).cast<std::string>() + ':' +
         py::str(frame.attr("tb_lineno")).cast<std::string>() + ')';
}

/// Returns the failure that an exception stands for. Those of Troupe keep their codes.
Status status_of(const py::error_already_set& error) {
  if (error.matches(py::module_::import("troupe.errors").attr("Error")))
    return {static_cast<Code>(error.value().attr("code").cast<int>()),
            py::str(error.value().attr("text")).cast<std::string>()};
  const std::string type = py::str(error.type().attr("__name__"));
  const std::string text = py::str(error.value());
  return {code_of(error), type + (text.empty() ? "" : ": ") + text + place_of(error)};
}

/// Makes tensors of what a function has returned.
using Outputs = std::function<std::vector<Tensor>(const py::object& results, std::span<const Tensor> inputs)>;

HostFunction host_function(const ScopeHandle& scope, py::function function, Outputs outputs) {
  return [function = shared(std::move(function)), outputs = std::move(outputs),
          held = std::weak_ptr(scope.graph->runtime)](
             std::span<const Tensor> inputs) -> Result<std::vector<Tensor>> {
    const PythonCall call;
    if (!call.allowed()) return cancelled("the interpreter of Python ends");
    const py::gil_scoped_acquire gil;
    auto runtime = held.lock();
    if (!runtime) return cancelled("the runtime ends");
    Result<std::vector<Tensor>> result = Status();
    try {
      py::tuple arguments(inputs.size());
      for (size_t i = 0; i < inputs.size(); ++i) arguments[i] = to_array(inputs[i], runtime);
      result = outputs((*function)(*arguments), inputs);
    } catch (const py::error_already_set& error) {
      result = status_of(error);
      if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();  // for the caller of the step
    } catch (const Error& error) {
      result = error.status();
    }
    drop_on_main_thread(std::move(runtime));
    return result;
  };
}

// ---- What functions return

/// Returns value `i` of what a function has returned.
Tensor value_of(py::handle value, DType dtype, size_t i) {
  try {
    return to_tensor(value, dtype, Bytes::Copied);
  } catch (const Error& error) {
    throw Error(
        invalid_argument("value " + std::to_string(i) + " of the function: " + error.status().text()));
  }
}

Tensor zeros_like(const Tensor& tensor) {
  Tensor zeros = value_or_throw(Tensor::allocate(tensor.dtype(), tensor.shape()));
  if (zeros.bytes() > 0) std::memset(zeros.mutable_data(), 0, zeros.bytes());
  return zeros;
}

/// For one output the value; for a list of outputs a sequence of values; for none anything.
Outputs values(const std::vector<DType>& dtypes, bool several) {
  return [dtypes, several](const py::object& results, std::span<const Tensor>) {
    if (!several) return std::vector{value_of(results, dtypes[0], 0)};
    std::vector<Tensor> tensors;
    if (dtypes.empty()) return tensors;
    if (!is_list(results))
      throw Error(invalid_argument("the function returned a value of type " + type_text(results) +
                                   "; it must return a list of " + std::to_string(dtypes.size()) +
                                   " values"));
    for (const py::handle value : results) {
      const size_t i = tensors.size();
      tensors.push_back(value_of(value, i < dtypes.size() ? dtypes[i] : DType::Invalid, i));
    }
    return tensors;
  };
}

/// A gradient for each input of a floating or complex type: a sequence, in which None stands for zeros, or for a single input its
/// gradient.
std::vector<Tensor> gradient_values(const py::object& results, std::span<const Tensor> inputs) {
  std::vector<const Tensor*> wanted;
  for (const Tensor& input : inputs)
    if (is_floating(input.dtype()) || is_complex(input.dtype())) wanted.push_back(&input);
  std::vector<py::object> given;
  if (wanted.size() == 1 && !py::isinstance<py::tuple>(results))
    given.push_back(results);
  else if (is_list(results))
    for (const py::handle value : results) given.push_back(py::reinterpret_borrow<py::object>(value));
  if (given.size() != wanted.size())
    throw Error(invalid_argument("the gradient function must return a tuple of " +
                                 std::to_string(wanted.size()) +
                                 " gradients, one for each input of a floating or complex type"));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < given.size(); ++i)
    tensors.push_back(given[i].is_none() ? zeros_like(*wanted[i])
                                         : value_of(given[i], wanted[i]->dtype(), i));
  return tensors;
}

// ---- Nodes

/// Returns the outputs, or the operation if there are none.
py::object add_function(const ScopeHandle& scope, const py::function& function, const py::list& inputs,
                        const py::list& dtypes, bool is_list, bool stateful, const py::object& gradient) {
  std::vector<Output> sources;
  for (const py::handle input : inputs) sources.push_back(as_output(scope, input, DType::Invalid));
  std::vector<DType> types;
  for (const py::handle dtype : dtypes) types.push_back(to_dtype(dtype));
  HostFunctionOptions options{.has_state = stateful};
  if (!gradient.is_none())
    options.gradient =
        host_function(scope, gradient.cast<py::function>(),
                      [count = sources.size()](const py::object& results, std::span<const Tensor> arguments) {
                        return gradient_values(results, arguments.first(count));
                      });
  const HostCall call = call_host(scope.scope, host_function(scope, function, values(types, is_list)),
                                  sources, types, std::move(options));
  scope.graph->functions.push_back(call.function);
  if (types.empty()) return py::cast(NodeHandle{scope.graph, call.node});
  return from_outputs(call.outputs, scope.graph);
}

GradientBuilder builder_of(const GraphRef& graph, py::function function) {
  return [function = shared(std::move(function)), held = std::weak_ptr(graph)](
             const Scope& scope, const std::vector<Output>& gradients) {
    const GraphRef present = held.lock();
    const ScopeHandle within{present, scope};
    std::vector<Gradient> built;
    const py::object results = (*function)(within, *from_outputs(gradients, present));
    for (const py::handle result : results) built.push_back(to_gradient(result, present));
    return built;
  };
}

py::list add_gradient(const ScopeHandle& scope, const py::list& ys, const py::list& xs,
                      const py::function& build) {
  const WithGradient with = with_gradient(scope.scope, to_outputs(ys, scope.graph),
                                          to_outputs(xs, scope.graph), builder_of(scope.graph, build));
  scope.graph->functions.push_back(with.gradient);
  return from_outputs(with.outputs, scope.graph);
}

}  // namespace

void bind_host_functions(py::module_& module) {
  module.def("py_function", &add_function, py::arg("scope"), py::arg("function"), py::arg("inputs"),
             py::arg("dtypes"), py::arg("is_list"), py::arg("stateful"), py::arg("gradient"));
  module.def("with_gradient", &add_gradient, py::arg("scope"), py::arg("ys"), py::arg("xs"),
             py::arg("build"));
}

}  // namespace troupe::python

#include "apps/python/model.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "apps/inference/model.h"
#include "apps/python/arrays.h"
#include "apps/python/interrupts.h"
#include "apps/python/values.h"
#include "apps/row_model.h"
#include "apps/variable_files.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

py::dict tensors_of(const std::vector<ModelTensor>& tensors) {
  py::dict result;
  for (const ModelTensor& tensor : tensors)
    result[py::str(tensor.name)] = py::make_tuple(tensor.dtype, from_shape(tensor.shape));
  return result;
}

py::dict signatures_of(const Model& model) {
  py::dict result;
  for (const ModelSignature& signature : model.signatures())
    result[py::str(signature.name)] =
        py::make_tuple(tensors_of(signature.inputs), tensors_of(signature.outputs), signature.method);
  return result;
}

Tensor input_of(const ModelTensor& wanted, py::handle value) {
  try {
    return to_tensor(value, wanted.dtype);
  } catch (const Error& error) {
    throw Error(Status(error.status().code(), "the input '" + wanted.name + "': " + error.status().text()));
  }
}

/// Fails if a name is not that of an input, and lists those that are.
void check_names(const ModelSignature& signature, const py::dict& given) {
  for (const auto& entry : given) {
    const auto known = [&](const ModelTensor& input) { return py::str(input.name).equal(entry.first); };
    if (std::ranges::any_of(signature.inputs, known)) continue;
    std::string names;
    for (const ModelTensor& input : signature.inputs) names += (names.empty() ? "" : ", ") + input.name;
    throw Error(invalid_argument("the signature '" + signature.name + "' has no input " +
                                 py::repr(entry.first).cast<std::string>() + "; it takes " +
                                 (names.empty() ? "none" : names)));
  }
}

/// Returns the inputs in the order of the signature.
std::vector<Tensor> inputs_of(const ModelSignature& signature, const py::dict& given) {
  check_names(signature, given);
  std::vector<Tensor> inputs;
  for (const ModelTensor& wanted : signature.inputs) {
    if (!given.contains(wanted.name))
      throw Error(invalid_argument("the input '" + wanted.name + "' is missing"));
    inputs.push_back(input_of(wanted, given[wanted.name.c_str()]));
  }
  return inputs;
}

/// Runs the model, and keeps its inputs for as long as it uses them, also if it fails.
std::vector<Tensor> run_and_keep(const Model& model, std::vector<Tensor> inputs, const std::string& name) {
  try {
    auto outputs = interruptible(
        [&](const Cancellation* cancellation) { return model.run(inputs, name, cancellation); });
    keep_while_used(std::move(inputs));
    return outputs;
  } catch (...) {
    keep_while_used(std::move(inputs));
    throw;
  }
}

py::dict run(const Model& model, const py::dict& given, const std::string& name) {
  const ModelSignature& signature = model.signature(name);
  std::vector<Tensor> inputs = inputs_of(signature, given);
  std::vector<Tensor> outputs = run_and_keep(model, std::move(inputs), name);
  const auto keep = std::make_shared<Model>(model);
  py::dict results;
  for (size_t i = 0; i < outputs.size(); ++i)
    results[py::str(signature.outputs[i].name)] = to_array(std::move(outputs[i]), keep);
  return results;
}

py::dict run_rows(const RowModel& model, const std::string& rows) {
  auto outputs =
      interruptible([&](const Cancellation* cancellation) { return model.run(rows, cancellation); });
  const auto keep = std::make_shared<RowModel>(model);
  py::dict results;
  for (auto& [name, values] : outputs) results[py::str(name)] = to_array(std::move(values), keep);
  return results;
}

/// Returns (type, may be missing, values) of each column.
py::dict columns_of(const RowModel& model) {
  py::dict columns;
  for (const RowColumn& column : model.columns())
    columns[py::str(column.name)] = py::make_tuple(column.type, column.may_be_missing, column.values);
  return columns;
}

Model load_model(const std::string& path, size_t threads, const std::vector<std::string>& tags) {
  return interruptible([&](const Cancellation* cancellation) {
    return load(path, {.threads = threads, .tags = tags, .cancellation = cancellation});
  });
}

py::dict read_values(const std::string& path) {
  auto values =
      interruptible([&](const Cancellation* cancellation) { return read_variables(path, cancellation); });
  py::dict arrays;
  for (auto& [name, value] : values) arrays[py::str(name)] = to_array(std::move(value));
  return arrays;
}

void write_values(const py::dict& arrays, const std::string& path) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, array] : arrays) values.emplace(name.cast<std::string>(), to_tensor(array));
  interruptible([&](const Cancellation* cancellation) { write_variables(values, path, cancellation); });
}

}  // namespace

void bind_models(py::module_& module) {
  py::class_<Model>(module, "Model")
      .def_property_readonly("source", &Model::source)
      .def("signature_table", &signatures_of)
      .def(
          "require", [](const Model& model, const std::string& name) { model.signature(name); },
          py::arg("signature"))
      .def("run", &run, py::arg("inputs"), py::arg("signature"));
  py::class_<RowModel>(module, "RowModel")
      .def(py::init<const Model&>(), py::arg("model"))
      .def("column_table", &columns_of)
      .def("run", &run_rows, py::arg("rows"));
  module.def("load", &load_model, py::arg("path"), py::arg("threads"), py::arg("tags"));
  module.def("read_variables", &read_values, py::arg("path"));
  module.def("write_variables", &write_values, py::arg("values"), py::arg("path"));
}

}  // namespace troupe::python

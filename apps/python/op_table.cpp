#include "apps/python/op_table.h"

#include "apps/python/handles.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

bool is_list_argument(const ArgDef& argument) {
  return !argument.number_attr.empty() || !argument.type_list_attr.empty();
}

std::string type_of(const ArgDef& argument) {
  std::string type = !argument.type_list_attr.empty() ? argument.type_list_attr
                     : argument.type_attr.empty()     ? std::string(name(argument.type))
                                                      : argument.type_attr;
  if (!argument.number_attr.empty()) type.insert(0, argument.number_attr + " * ");
  return argument.is_ref ? "Ref(" + type + ")" : type;
}

py::list arguments_of(const std::vector<ArgDef>& arguments) {
  py::list list;
  for (const ArgDef& argument : arguments) {
    py::dict entry;
    entry["name"] = argument.name;
    entry["type"] = type_of(argument);
    entry["is_list"] = is_list_argument(argument);
    py::list attrs;
    for (const std::string& attr : {argument.type_attr, argument.number_attr, argument.type_list_attr})
      if (!attr.empty()) attrs.append(attr);
    entry["attrs"] = attrs;
    list.append(entry);
  }
  return list;
}

/// Returns a default that Python can write down, or None: types have their names.
py::object default_of(const std::optional<AttrValue>& value) {
  if (!value || std::holds_alternative<Tensor>(*value) || std::holds_alternative<std::vector<Tensor>>(*value))
    return py::none();
  if (const auto* const dtype = std::get_if<DType>(&*value)) return py::str(std::string(name(*dtype)));
  if (const auto* const text = std::get_if<std::string>(&*value)) return py::str(*text);
  if (kind_of(*value) == AttrKind::Ints || kind_of(*value) <= AttrKind::Bool) return from_attribute(*value);
  return py::none();
}

py::list attributes_of(const OpDef& op) {
  py::list list;
  for (const AttrDef& attr : op.attrs) {
    py::dict entry;
    entry["name"] = attr.name;
    entry["kind"] = std::string(name(attr.kind));
    entry["has_default"] = attr.default_value.has_value();
    entry["default"] = default_of(attr.default_value);
    py::list allowed;
    for (const AttrValue& value : attr.allowed) allowed.append(text(value));
    entry["allowed"] = allowed;
    list.append(entry);
  }
  return list;
}

py::list constructors_of(const OpDef& op) {
  py::list list;
  for (const Constructor& constructor : op.constructors) {
    py::list parameters;
    for (const Parameter& parameter : constructor.parameters) {
      py::dict entry;
      entry["name"] = parameter.name;
      entry["target"] = parameter.target;
      entry["is_input"] = parameter.is_input;
      entry["required"] = parameter.required;
      entry["all_axes"] = parameter.all_axes;
      entry["default"] = default_of(parameter.default_value);
      parameters.append(entry);
    }
    py::dict entry;
    entry["name"] = constructor.name;
    entry["parameters"] = parameters;
    entry["output"] = constructor.output;
    list.append(entry);
  }
  return list;
}

py::list definitions(const RuntimeHandle& runtime) {
  py::list list;
  for (const auto& [name, op] : runtime.runtime.ops()->ops()) {
    py::dict entry;
    entry["name"] = name;
    entry["inputs"] = arguments_of(op->inputs);
    entry["outputs"] = arguments_of(op->outputs);
    entry["attrs"] = attributes_of(*op);
    entry["constructors"] = constructors_of(*op);
    list.append(entry);
  }
  return list;
}

}  // namespace

void bind_op_table(py::module_& module) { module.def("op_definitions", &definitions, py::arg("runtime")); }

}  // namespace troupe::python

#include "apps/python/calls.h"

#include <span>

#include "apps/python/arrays.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

bool is_output(py::handle value) {
  return py::isinstance<OutputHandle>(value) || py::isinstance<NodeHandle>(value);
}

bool takes_many(const ArgDef& argument) {
  return !argument.number_attr.empty() || !argument.type_list_attr.empty();
}

/// Adds one node.
class OpCall {
 public:
  OpCall(const ScopeHandle& scope, const OpDef& op, const py::tuple& inputs, const py::dict& attrs)
      : scope_(scope), unnamed_{scope.graph, scope.scope.with_name("")}, op_(op), values_(inputs) {
    if (inputs.size() != op.inputs.size())
      fail("takes " + std::to_string(op.inputs.size()) + " inputs, not " + std::to_string(inputs.size()));
    for (const auto& [name, value] : attrs) set_attribute(name.cast<std::string>(), value);
  }

  NodeId add() {
    std::vector<Output> inputs;
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      const size_t first = inputs.size();
      add_input(inputs, op_.inputs[i], values_[i]);
      if (takes_many(op_.inputs[i])) set_length(op_.inputs[i], std::span(inputs).subspan(first));
    }
    return scope_.scope.add(op_.name, std::move(inputs), std::move(attrs_));
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw Error(invalid_argument("the op " + op_.name + " " + text));
  }

  void set_attribute(const std::string& name, py::handle value) {
    const AttrDef* const attr = op_.find_attr(name);
    if (!attr) fail("has no attribute '" + name + "'");
    if (value.is_none()) return;
    try {
      attrs_.set(name, to_attribute(value, attr->kind));
    } catch (const Error& error) {
      fail("has the attribute '" + name + "': " + error.status().text());
    }
  }

  void add_input(std::vector<Output>& inputs, const ArgDef& argument, py::handle value) {
    if (!takes_many(argument)) return inputs.push_back(to_input(argument, 0, value));
    if (!is_list(value))
      fail("takes a list of tensors as '" + argument.name + "', not a value of type " + type_text(value));
    size_t i = 0;
    for (const py::handle element : value) inputs.push_back(to_input(argument, i++, element));
  }

  /// Sets the attribute that says how many tensors a list has, or their types, to what is given: of several lists the graph would
  /// not know where one ends. Fails if the list has another length than the attribute, or another list that it stands for, says.
  void set_length(const ArgDef& argument, std::span<const Output> given) {
    const std::string& attr = argument.number_attr.empty() ? argument.type_list_attr : argument.number_attr;
    const auto length = static_cast<int64_t>(given.size());
    if (const AttrValue* const known = attrs_.find(attr)) {
      const auto* const types = std::get_if<std::vector<DType>>(known);
      const int64_t wanted = types ? static_cast<int64_t>(types->size()) : std::get<int64_t>(*known);
      if (wanted != length)
        fail("takes " + std::to_string(wanted) + " tensors as '" + argument.name + "', as its attribute " +
             attr + " says, not " + std::to_string(length));
    } else if (!argument.number_attr.empty()) {
      attrs_.set(attr, length);
    } else {
      set_types(attr, given);
    }
  }

  /// Leaves the attribute out if an input is no tensor, which the graph then says.
  void set_types(const std::string& attr, std::span<const Output> given) {
    const Graph& graph = scope_.graph->graph;
    std::vector<DType> types;
    for (const Output& output : given) {
      if (!graph.check_tensor(output).ok()) return;
      types.push_back(graph.dtype(output));
    }
    attrs_.set(attr, std::move(types));
  }

  Output to_input(const ArgDef& argument, size_t i, py::handle value) {
    try {
      const bool has_type = is_output(value) || first_output(value);
      return as_output(unnamed_, value, has_type ? DType::Invalid : type_of(argument, i, value));
    } catch (const Error& error) {
      fail("has the input '" + argument.name + "': " + error.status().text());
    }
  }

  /// Returns the type that a constant for this argument must have; Invalid: that of its value. A list without elements has none.
  DType type_of(const ArgDef& argument, size_t i, py::handle value) const {
    if (argument.type != DType::Invalid) return argument.type;
    if (!argument.type_list_attr.empty()) {
      const AttrValue* const given = attrs_.find(argument.type_list_attr);
      const auto* const types = given ? std::get_if<std::vector<DType>>(given) : nullptr;
      return types && i < types->size() ? (*types)[i] : DType::Invalid;
    }
    if (const AttrValue* const given = attrs_.find(argument.type_attr)) return std::get<DType>(*given);
    if (const DType sibling = type_of_siblings(argument.type_attr); sibling != DType::Invalid) return sibling;
    const AttrDef* const attr = op_.find_attr(argument.type_attr);
    if (attr && attr->default_value) return std::get<DType>(*attr->default_value);
    const bool is_empty = is_list(value) && py::len(value) == 0;
    return is_empty && attr && !attr->allowed.empty() ? std::get<DType>(attr->allowed.front())
                                                      : DType::Invalid;
  }

  /// Returns the type of the first output, or else of the first array, among the inputs of this type.
  DType type_of_siblings(const std::string& type_attr) const {
    DType array = DType::Invalid;
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      if (op_.inputs[i].type_attr != type_attr) continue;
      const py::handle value = values_[i];
      const py::object elements = is_list(value) && takes_many(op_.inputs[i])
                                      ? py::reinterpret_borrow<py::object>(value)
                                      : py::object(py::make_tuple(value));
      for (const py::handle element : elements) {
        if (const py::handle output = first_output(element)) {
          const auto& handle = output.cast<const OutputHandle&>();
          return handle.graph->graph.check_tensor(handle.output).ok()
                     ? handle.graph->graph.dtype(handle.output)
                     : DType::Invalid;
        }
        if (array == DType::Invalid && py::hasattr(element, "dtype")) array = to_tensor(element).dtype();
      }
    }
    return array;
  }

  const ScopeHandle& scope_;
  const ScopeHandle unnamed_;
  const OpDef& op_;
  const py::tuple values_;
  Attributes attrs_;
};

/// A call for a list in a list, of which there may be so many as calls of Python: a list may have itself as an element.
class Descent {
 public:
  Descent() {
    if (Py_EnterRecursiveCall(" in a list with outputs")) throw py::error_already_set();
  }
  ~Descent() { Py_LeaveRecursiveCall(); }
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;
};

/// Returns the stack of the elements of a list.
Output stacked(const ScopeHandle& scope, py::handle list, DType dtype) try {
  const Descent descent;
  const ScopeHandle unnamed{scope.graph, scope.scope.with_name("")};
  std::vector<Output> elements;
  for (const py::handle element : list) elements.push_back(as_output(unnamed, element, dtype));
  return scope.scope.add_one("Pack", std::move(elements));
} catch (const Error& error) {
  throw Error(Status(error.status().code(),
                     "a list with outputs becomes one tensor by troupe.ops.stack: " + error.status().text()));
}

}  // namespace

py::handle first_output(py::handle value) {
  if (py::isinstance<OutputHandle>(value)) return value;
  if (!is_list(value)) return {};
  const Descent descent;
  for (const py::handle element : value)
    if (const py::handle found = first_output(element)) return found;
  return {};
}

Output as_output(const ScopeHandle& scope, py::handle value, DType wanted) {
  if (!is_output(value)) {
    const py::handle output = first_output(value);
    if (!output) return scope.scope.constant(to_tensor(value, wanted, Bytes::Copied));
    const DType dtype = scope.scope.dtype(to_output(output, scope.graph));
    if (wanted == DType::Invalid || wanted == dtype) return stacked(scope, value, dtype);
    throw Error(invalid_argument("a list with outputs of type " + std::string(name(dtype)) +
                                 " is given, but elements of type " + std::string(name(wanted)) +
                                 " are needed: convert the outputs by troupe.ops.cast"));
  }
  Output output = to_output(value, scope.graph);
  if (output.is_control() && !scope.graph->graph.node(output.node).output_types.empty()) output.index = 0;
  return scope.scope.checked(output);
}

NodeId call_op(const ScopeHandle& scope, const std::string& op, const py::tuple& inputs,
               const py::dict& attrs) {
  return OpCall(scope, *value_or_throw(scope.graph->graph.ops()->require(op)), inputs, attrs).add();
}

}  // namespace troupe::python

#include "kernels/face/constructors_header.h"

#include <algorithm>
#include <vector>

namespace troupe {
namespace {

constexpr std::string_view opening =
    R"header(// The constructors of the op table as C++ functions, in alphabetical order. matmul(g, a, b) calls g.call("matmul", {a, b}) and
// adds a node named "MatMul"; matmul(g.with_name("logits"), a, b) adds a node named "logits". An Argument is what expressions in
// run files accept: a tensor, or a number or list that gets the dtype of the other inputs. The functions throw Error, which names
// op, node and shapes. The source file of the family of an op (kernels/ops) says what the op computes. Only one thread at a time
// may add nodes to a graph. This file is generated from the op table: ninja -C build/release op_faces.
#pragma once

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

// NOLINTBEGIN(performance-unnecessary-value-param): copies of small values, while a graph is built
// clang-format off
)header";
constexpr std::string_view closing = R"header(// clang-format on
// NOLINTEND(performance-unnecessary-value-param)

}  // namespace troupe
#pragma GCC visibility pop
)header";

/// The function of the constructor "placeholder", the only one that takes a name, too.
constexpr std::string_view placeholder_function =
    R"header(/// The shape is unknown unless it is given, as {} is, too. That of a scalar is PartialShape::scalar().
inline Output placeholder(const Scope& g, DType dtype, const PartialShape& shape = {}, std::string_view name = {}) { return (name.empty() ? g : g.with_name(name)).call("placeholder", {dtype, shape}); }
)header";

struct CppParameter {
  /// For example "Argument ", " = 0", and the text that passes it to Scope::call.
  std::string type, initial, value;
};

std::string initial_of(const AttrValue& value) {
  switch (kind_of(value)) {
    case AttrKind::Type: {
      const DType dtype = std::get<DType>(value);
      return dtype == f32                ? "f32"
             : dtype == i32              ? "i32"
             : dtype == i64              ? "i64"
             : dtype == DType::Complex64 ? "DType::Complex64"
             : dtype == DType::UInt64    ? "DType::UInt64"
             : dtype == DType::UInt8     ? "DType::UInt8"
                                         : "?";
    }
    case AttrKind::Int:
    case AttrKind::Float:
    case AttrKind::Bool: return text(value);
    case AttrKind::String: {
      const auto& text = std::get<std::string>(value);
      return text.empty() ? "{}" : '"' + text + '"';
    }
    case AttrKind::Ints: {
      std::string list;
      for (const int64_t element : std::get<std::vector<int64_t>>(value))
        list += (list.empty() ? "" : ", ") + std::to_string(element);
      return "{" + list + "}";
    }
    default: return "{}";  // other lists and shapes: an empty one
  }
}

CppParameter as_cpp(const OpDef& op, const Parameter& parameter) {
  if (parameter.is_input) {
    const ArgDef& argument = op.inputs[*op.find_input(parameter.target)];
    const bool is_list = !argument.number_attr.empty() || !argument.type_list_attr.empty();
    const std::string initial =
        parameter.default_value ? " = " + initial_of(*parameter.default_value) : std::string();
    if (is_list) return {"std::vector<Output> ", initial, "std::move(" + parameter.name + ")"};
    return {"Argument ", initial, parameter.name};
  }
  const AttrDef& attr = *op.find_attr(parameter.target);
  const auto& value = parameter.default_value ? parameter.default_value : attr.default_value;
  const std::string initial = value ? " = " + initial_of(*value) : std::string();
  switch (attr.kind) {
    case AttrKind::Int: return {"int64_t ", initial, parameter.name};
    case AttrKind::Bool: return {"bool ", initial, parameter.name};
    case AttrKind::Type: return {"DType ", initial, parameter.name};
    case AttrKind::String: return {"const std::string& ", initial, parameter.name};
    case AttrKind::Shape: return {"const PartialShape& ", initial, parameter.name};
    case AttrKind::Ints: return {"const std::vector<int64_t>& ", initial, parameter.name};
    default: return {"Argument ", initial, parameter.name};
  }
}

bool yields_list(const OpDef& op) {
  return std::ranges::any_of(op.outputs, [](const ArgDef& output) {
    return !output.number_attr.empty() || !output.type_list_attr.empty();
  });
}

std::string function_of(const OpDef& op, const Constructor& constructor, size_t parameters) {
  const bool list = yields_list(op);
  std::string head = std::string("inline ") + (list ? "std::vector<Output> " : "Output ") + constructor.name +
                     "(const Scope& g",
              call = std::string(list ? "g.outputs(" : "") + "g.call(\"" + constructor.name + "\", {";
  for (size_t i = 0; i < parameters; ++i) {
    const Parameter& parameter = constructor.parameters[i];
    const CppParameter cpp = as_cpp(op, parameter);
    head += ", " + cpp.type + parameter.name + cpp.initial;
    call += (i == 0 ? "" : ", ") + cpp.value;
  }
  return head + ") { return " + call + (list ? "})); }\n" : "}); }\n");
}

/// Returns one function for each constructor. A constructor with axes that may be left out ("all") gets a second function,
/// without the axes and the parameters after them.
std::string functions_of(const OpTable& ops) {
  std::string functions;
  for (const auto& [name, entry] : ops.constructors()) {
    if (name == "placeholder") {
      functions += placeholder_function;
      continue;
    }
    const auto& parameters = entry.constructor->parameters;
    const auto all_axes = std::ranges::find(parameters, true, &Parameter::all_axes);
    if (all_axes != parameters.end())
      functions +=
          function_of(*entry.op, *entry.constructor, static_cast<size_t>(all_axes - parameters.begin()));
    functions += function_of(*entry.op, *entry.constructor, parameters.size());
  }
  return functions;
}

}  // namespace

std::string constructors_header(const OpTable& ops) {
  return std::string(opening) + functions_of(ops) + std::string(closing);
}

}  // namespace troupe

#include "graph/build/signature.h"

#include <algorithm>

namespace troupe {
namespace {

Status check_allowed(const AttrDef& def, const AttrValue& element) {
  if (def.allowed.empty()) return {};
  for (const auto& allowed : def.allowed)
    if (equal(allowed, element)) return {};
  std::string list;
  for (const auto& allowed : def.allowed) list += (list.empty() ? "" : ", ") + text(allowed);
  return invalid_argument("attribute " + def.name + " is " + text(element) + "; allowed: " + list);
}

Status check_shape(const AttrDef& def, const PartialShape& shape) {
  const Status status = PartialShape::make({shape.dims().begin(), shape.dims().end()}).status();
  return status.ok() ? status : invalid_argument("attribute " + def.name + " is wrong: " + status.text());
}

template <class T>
Status check_elements(const AttrDef& def, const std::vector<T>& values) {
  if (def.minimum && static_cast<int64_t>(values.size()) < *def.minimum)
    return invalid_argument("attribute " + def.name + " has " + std::to_string(values.size()) +
                            " elements; at least " + std::to_string(*def.minimum) + " are required");
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, DType>)
    for (const auto& value : values) TROUPE_RETURN_IF_FAILED(check_allowed(def, value));
  if constexpr (std::is_same_v<T, PartialShape>)
    for (const auto& value : values) TROUPE_RETURN_IF_FAILED(check_shape(def, value));
  return {};
}

template <class T>
Status check_elements(const AttrDef& def, const T& value) {
  if constexpr (std::is_same_v<T, int64_t>)
    if (def.minimum && value < *def.minimum)
      return invalid_argument("attribute " + def.name + " is " + std::to_string(value) +
                              "; it must be at least " + std::to_string(*def.minimum));
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, DType>) return check_allowed(def, value);
  if constexpr (std::is_same_v<T, PartialShape>) return check_shape(def, value);
  return {};
}

bool is_internal(std::string_view name) { return name.starts_with('_'); }

Status check_given(const OpDef& op, const Attributes& attrs) {
  for (const auto& [name, value] : attrs) {
    const AttrDef* def = op.find_attr(name);
    if (!def && !is_internal(name)) return invalid_argument("the op has no attribute '" + name + "'");
    if (def && kind_of(value) != def->kind)
      return invalid_argument("attribute " + name + " is of kind " +
                              std::string(troupe::name(kind_of(value))) + ", expected " +
                              std::string(troupe::name(def->kind)));
  }
  return {};
}

/// Returns the attribute that says how many tensors an argument has, or "" if it has one.
const std::string& arity_attr(const ArgDef& arg) {
  return arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
}

std::string counts(size_t expected, size_t got) {
  return "takes " + std::to_string(expected) + " inputs, got " + std::to_string(got);
}

/// Sets a number_attr that is not given, if the number of inputs determines it. If several are not given, those after the first one
/// must have defaults.
Status infer_arity(const OpDef& op, size_t inputs, Attributes& attrs, size_t& open_list) {
  size_t fixed = 0, open_arguments = 0;
  const std::string* open = nullptr;
  for (const auto& arg : op.inputs) {
    const auto& attr = arity_attr(arg);
    if (open && *open != attr && !attr.empty() && !attrs.find(attr))
      if (const AttrDef* def = op.find_attr(attr); def && def->default_value)
        attrs.set(attr, *def->default_value);
    if (attr.empty() || attrs.find(attr)) {
      if (!arg.number_attr.empty() && attrs.get<int64_t>(attr) < 0)
        return invalid_argument("attribute " + attr + " is " + std::to_string(attrs.get<int64_t>(attr)) +
                                "; it must not be negative");
      fixed += arity(arg, attrs);
    } else {
      if (open && *open != attr) return invalid_argument("attribute " + attr + " is missing");
      open = &attr;
      ++open_arguments;
    }
    if (fixed > inputs) return invalid_argument(counts(fixed, inputs));
  }
  if (!open) return fixed == inputs ? Status{} : invalid_argument(counts(fixed, inputs));
  const size_t rest = inputs - fixed;
  if (rest % open_arguments != 0)
    return invalid_argument(std::to_string(rest) + " inputs cannot be divided equally among the " +
                            std::to_string(open_arguments) + " arguments that have attribute " + *open);
  open_list = rest / open_arguments;
  if (op.find_attr(*open)->kind == AttrKind::Int) attrs.set(*open, static_cast<int64_t>(open_list));
  return {};
}

Status type_mismatch(const ArgDef& arg, DType got, DType expected, const std::string& because) {
  return invalid_argument("input " + arg.name + " is " + std::string(name(got)) + ", expected " +
                          std::string(name(expected)) + because);
}

Status check_input(const ArgDef& arg, EdgeType edge, Attributes& attrs) {
  if (arg.is_ref && !edge.is_ref)
    return invalid_argument("input " + arg.name + " must be a reference to a variable, not a value");
  if (arg.type_attr.empty())
    return edge.dtype == arg.type ? Status{} : type_mismatch(arg, edge.dtype, arg.type, "");
  if (const AttrValue* known = attrs.find(arg.type_attr)) {
    const DType expected = std::get<DType>(*known);
    return edge.dtype == expected
               ? Status{}
               : type_mismatch(arg, edge.dtype, expected, " (attribute " + arg.type_attr + ")");
  }
  attrs.set(arg.type_attr, edge.dtype);
  return {};
}

Status check_type_list(const ArgDef& arg, std::span<const EdgeType> edges, Attributes& attrs) {
  std::vector<DType> types;
  for (const auto& edge : edges) types.push_back(edge.dtype);
  const AttrValue* known = attrs.find(arg.type_list_attr);
  if (!known) {
    attrs.set(arg.type_list_attr, std::move(types));
    return {};
  }
  const auto& expected = std::get<std::vector<DType>>(*known);
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i] != expected[i])
      return type_mismatch(arg, types[i], expected[i],
                           " (element " + std::to_string(i) + " of " + arg.type_list_attr + ")");
  return {};
}

Status check_inputs(const OpDef& op, std::span<const EdgeType> inputs, Attributes& attrs) {
  size_t open_list = 0;
  TROUPE_RETURN_IF_FAILED(infer_arity(op, inputs.size(), attrs, open_list));
  size_t at = 0;
  for (const auto& arg : op.inputs) {
    const bool open = !arity_attr(arg).empty() && !attrs.find(arity_attr(arg));
    const size_t count = open ? open_list : arity(arg, attrs);
    const auto edges = inputs.subspan(at, count);
    at += count;
    if (!arg.type_list_attr.empty()) {
      TROUPE_RETURN_IF_FAILED(check_type_list(arg, edges, attrs));
    } else {
      for (const auto& edge : edges) TROUPE_RETURN_IF_FAILED(check_input(arg, edge, attrs));
    }
  }
  return {};
}

}  // namespace

size_t arity(const ArgDef& argument, const Attributes& attrs) {
  if (!argument.number_attr.empty()) return static_cast<size_t>(attrs.get<int64_t>(argument.number_attr));
  if (!argument.type_list_attr.empty()) return attrs.get<std::vector<DType>>(argument.type_list_attr).size();
  return 1;
}

Status complete_attributes(const OpDef& op, std::span<const EdgeType> inputs, Attributes& attrs) {
  TROUPE_RETURN_IF_FAILED(check_given(op, attrs));
  TROUPE_RETURN_IF_FAILED(check_inputs(op, inputs, attrs));
  for (const auto& def : op.attrs) {
    if (!attrs.find(def.name)) {
      if (!def.default_value) return invalid_argument("attribute " + def.name + " is missing");
      attrs.set(def.name, *def.default_value);
    }
    TROUPE_RETURN_IF_FAILED(
        std::visit([&](const auto& value) { return check_elements(def, value); }, *attrs.find(def.name)));
  }
  return {};
}

std::vector<EdgeType> flattened_types(std::span<const ArgDef> arguments, const Attributes& attrs) {
  std::vector<EdgeType> types;
  for (const auto& arg : arguments) {
    if (!arg.type_list_attr.empty()) {
      for (const DType dtype : attrs.get<std::vector<DType>>(arg.type_list_attr))
        types.push_back({dtype, arg.is_ref});
      continue;
    }
    const DType dtype = arg.type_attr.empty() ? arg.type : attrs.get<DType>(arg.type_attr);
    types.insert(types.end(), arity(arg, attrs), EdgeType{dtype, arg.is_ref});
  }
  return types;
}

std::string argument_name(const Node& node, size_t index) {
  for (const ArgDef& argument : node.op->inputs) {
    const size_t count = arity(argument, node.attrs);
    if (index < count) return argument.name + (count == 1 ? "" : '[' + std::to_string(index) + ']');
    index -= count;
  }
  return "input " + std::to_string(index);
}

bool in_host_memory(const Node& node, size_t index, bool is_input) {
  size_t end = 0;
  for (const ArgDef& argument : is_input ? node.op->inputs : node.op->outputs) {
    end += arity(argument, node.attrs);
    if (index < end) return argument.on_host;
  }
  return false;
}

}  // namespace troupe

#include "kernels/face/ops_document.h"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

constexpr std::string_view head = R"(# Ops

Every op of the table, by TensorFlow's names. TensorFlow's documentation says what an op computes, and so does the comment at the head of the
op's source file in `kernels/ops/`. This page is generated from the op table: `ninja -C build/release op_faces`.

- The first line of an op shows its constructor, for expressions of run files and for C++ (`kernels/constructors.h`). An op without a
  constructor is added by its name (`Scope::add`).
- `Ref(T)` is a reference to a variable; `N * T` means N tensors of dtype T, where `N` is an attribute; `T...` means one tensor for each dtype
  in the list `T`.
- "Gradient: refused" means that `gradients()` throws if a gradient has to pass the op; "none" means that no gradient flows through the op.
)";

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : ", ").append(part);
  return text;
}
std::string code(const std::string& text) { return '`' + text + '`'; }

std::string type_of(const ArgDef& argument) {
  if (!argument.type_list_attr.empty()) return argument.type_list_attr + "...";
  std::string type = argument.type_attr.empty() ? std::string(name(argument.type)) : argument.type_attr;
  if (!argument.number_attr.empty()) type.insert(0, argument.number_attr + " * ");
  return argument.is_ref ? "Ref(" + type + ')' : type;
}

std::string arguments_text(const std::vector<ArgDef>& arguments) {
  std::vector<std::string> parts;
  for (const ArgDef& argument : arguments) parts.push_back(code(argument.name + ": " + type_of(argument)));
  return parts.empty() ? "none" : joined(parts);
}

std::string call_text(const Constructor& constructor, const OpDef& op) {
  std::vector<std::string> parts;
  for (const Parameter& parameter : constructor.parameters) {
    const AttrDef* const attr = parameter.is_input ? nullptr : op.find_attr(parameter.target);
    const auto& value = parameter.default_value || !attr ? parameter.default_value : attr->default_value;
    parts.push_back(parameter.name + (parameter.all_axes ? " = all axes"
                                      : value            ? " = " + text(*value)
                                                         : ""));
  }
  return constructor.name + '(' + joined(parts) + ')';
}

/// Returns the dtypes that the definition allows and, if the op has kernels, some kernel serves; empty if all dtypes are
/// allowed.
std::vector<DType> dtypes_of(const AttrDef& attr, std::span<const KernelDef> kernels) {
  std::set<DType> served;
  bool any = kernels.empty();
  for (const KernelDef& kernel : kernels) {
    const auto types = kernel.types.find(attr.name);
    any = any || types == kernel.types.end();
    if (types != kernel.types.end()) served.insert(types->second.begin(), types->second.end());
  }
  std::vector<DType> result;
  if (attr.allowed.empty()) return any ? result : std::vector<DType>(served.begin(), served.end());
  for (const AttrValue& allowed : attr.allowed)
    if (const DType dtype = std::get<DType>(allowed); any || served.contains(dtype)) result.push_back(dtype);
  return result;
}

std::string allowed_text(const AttrDef& attr, std::span<const KernelDef> kernels) {
  std::vector<std::string> parts;
  if (attr.kind == AttrKind::Type)
    for (const DType dtype : dtypes_of(attr, kernels)) parts.emplace_back(name(dtype));
  else
    for (const AttrValue& value : attr.allowed) parts.push_back(text(value));
  if (!parts.empty()) return '{' + joined(parts) + '}';
  return std::string(name(attr.kind)) + (attr.minimum ? " >= " + std::to_string(*attr.minimum) : "");
}

/// Tensors are vectors of bytes.
std::string default_text(const AttrValue& value) {
  const auto* const tensor = std::get_if<Tensor>(&value);
  if (!tensor) return text(value);
  std::vector<std::string> bytes;
  for (const uint8_t byte : tensor->as<uint8_t>()) bytes.push_back(std::to_string(byte));
  return "uint8 [" + joined(bytes) + ']';
}

std::string attributes_text(const OpDef& op, std::span<const KernelDef> kernels) {
  std::vector<std::string> parts;
  for (const AttrDef& attr : op.attrs)
    parts.push_back(code(attr.name + ": " + allowed_text(attr, kernels) +
                         (attr.default_value ? " = " + default_text(*attr.default_value) : "")));
  return joined(parts);
}

std::string gradient_text(const OpDef& op) {
  return op.gradient ? "yes" : op.not_differentiable ? "none" : "refused";
}

std::string served_text(const OpDef& op, std::span<const KernelDef> kernels) {
  switch (op.served_by) {
    case ServedBy::Kernel: break;
    case ServedBy::Step: return "the step itself, on every device";
    case ServedBy::Service: return "the " + op.service + " service";
  }
  std::set<std::string> devices;
  for (const KernelDef& kernel : kernels)
    devices.insert(kernel.device_type == any_device ? "every device" : kernel.device_type);
  return "kernels on " + joined({devices.begin(), devices.end()});
}

std::string entry(const OpDef& op, std::span<const KernelDef> kernels) {
  std::string entry = "## " + op.name + "\n\n";
  for (const Constructor& constructor : op.constructors) entry += code(call_text(constructor, op)) + "\n\n";
  if (!op.former_names.empty()) entry += "- Former names: " + joined(op.former_names) + '\n';
  entry += "- Inputs: " + arguments_text(op.inputs) + '\n';
  entry += "- Outputs: " + arguments_text(op.outputs) + '\n';
  if (!op.attrs.empty()) entry += "- Attributes: " + attributes_text(op, kernels) + '\n';
  return entry + "- Gradient: " + gradient_text(op) + "; computed by " + served_text(op, kernels) + '\n';
}

}  // namespace

std::string ops_document(const OpLibrary& library) {
  std::string document(head);
  for (const auto& [name, op] : library.ops->ops())
    if (!name.starts_with('_')) document += '\n' + op_document(*op, library);
  return document;
}

std::string op_document(const OpDef& op, const OpLibrary& library) {
  return entry(op, library.kernels.of(op.name));
}

}  // namespace troupe

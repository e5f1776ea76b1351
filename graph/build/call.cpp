#include "graph/build/call.h"

#include <numeric>

namespace troupe {
namespace {

std::string signature(const ConstructorEntry& entry) {
  std::string out = entry.constructor->name + '(';
  for (const auto& parameter : entry.constructor->parameters) {
    const AttrDef* attr = parameter.is_input ? nullptr : entry.op->find_attr(parameter.target);
    if (out.back() != '(') out += ", ";
    out += parameter.name;
    if (parameter.all_axes)
      out += " = all";
    else if (parameter.default_value)
      out += " = " + text(*parameter.default_value);
    else if (attr && attr->default_value)
      out += " = " + text(*attr->default_value);
    else if (!parameter.required)
      out += " = ...";
  }
  return out + ')';
}

bool is_output(const Argument& argument) { return std::holds_alternative<Output>(argument.value()); }

}  // namespace

Call::Call(const Scope& scope, std::string_view constructor, const std::vector<Argument>& positional,
           const NamedArguments& named)
    : scope_(scope) {
  const OpTable& table = *scope.graph().ops();
  const ConstructorEntry* entry = table.find_constructor(constructor);
  if (!entry) {
    std::vector<std::string_view> names;
    for (const auto& known : table.constructors()) names.push_back(known.first);
    const auto near = nearest(constructor, names);
    throw Error(not_found("there is no function '" + std::string(constructor) + "'" +
                          (near.empty() ? "" : "; the nearest is '" + std::string(near) + "'")));
  }
  entry_ = *entry;
  bind(positional, named);
}

void Call::fail(std::string text) const {
  throw Error(
      invalid_argument(entry_.constructor->name + ": " + std::move(text) + "; usage: " + signature(entry_)));
}

void Call::bind(const std::vector<Argument>& positional, const NamedArguments& named) {
  const auto& parameters = entry_.constructor->parameters;
  arguments_.assign(parameters.size(), nullptr);
  if (positional.size() > parameters.size())
    fail(std::to_string(positional.size()) + " arguments are too many");
  for (size_t i = 0; i < positional.size(); ++i) arguments_[i] = &positional[i];
  for (const auto& [name, argument] : named) {
    size_t i = 0;
    while (i < parameters.size() && parameters[i].name != name) ++i;
    if (i == parameters.size()) fail("no parameter is called '" + name + "'");
    if (arguments_[i]) fail("parameter '" + name + "' is given twice");
    arguments_[i] = &argument;
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!arguments_[i] && parameters[i].required) fail("parameter '" + parameters[i].name + "' is missing");
}

const Parameter& Call::parameter(std::string_view target) const {
  for (const auto& parameter : entry_.constructor->parameters)
    if (parameter.target == target) return parameter;
  fail("input '" + std::string(target) + "' has no parameter");
}

const Argument* Call::bound(std::string_view target) const {
  const auto& parameters = entry_.constructor->parameters;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].target == target) return arguments_[i];
  return nullptr;
}

Output Call::build() {
  set_attributes();
  for (const auto& arg : entry_.op->inputs) add_input(arg);
  const NodeId node = scope_.add(entry_.op->name, std::move(inputs_), std::move(attrs_));
  const int output = entry_.constructor->output;
  return scope_.graph().output(node, output < 0 ? Output::control : static_cast<uint32_t>(output));
}

void Call::set_attributes() {
  const auto& parameters = entry_.constructor->parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (parameter.is_input) continue;
    if (arguments_[i]) {
      auto value = to_attribute(*arguments_[i], entry_.op->find_attr(parameter.target)->kind);
      if (!value) fail("parameter '" + parameter.name + "' " + value.status().text());
      attrs_.set(parameter.target, std::move(*value));
    } else if (parameter.default_value) {
      attrs_.set(parameter.target, *parameter.default_value);
    }
  }
}

void Call::add_input(const ArgDef& arg) {
  const Parameter& from = parameter(arg.name);
  const Argument* argument = bound(arg.name);
  if (!argument) {
    if (from.all_axes) {
      inputs_.push_back(all_axes_of_first_input());
    } else if (from.default_value) {
      const int64_t number = std::get<int64_t>(*from.default_value);
      inputs_.push_back(to_output(arg, Argument(number)));
    } else {
      fail("parameter '" + from.name + "' is missing");
    }
    return;
  }
  const bool takes_many = !arg.number_attr.empty() || !arg.type_list_attr.empty();
  const size_t before = inputs_.size();
  if (const auto* outputs = std::get_if<std::vector<Output>>(&argument->value())) {
    if (!takes_many) fail("parameter '" + from.name + "' takes one tensor, not a list");
    inputs_.insert(inputs_.end(), outputs->begin(), outputs->end());
  } else if (const auto* list = std::get_if<std::vector<Argument>>(&argument->value()); list && takes_many) {
    for (const auto& element : *list) inputs_.push_back(to_output(arg, element));
  } else {
    inputs_.push_back(to_output(arg, *argument));
  }
  if (!arg.number_attr.empty()) set_number(arg, inputs_.size() - before);
}

/// The node gets all inputs one after the other, and cannot tell where one of several lists ends.
void Call::set_number(const ArgDef& arg, size_t number) {
  const auto given = static_cast<int64_t>(number);
  const AttrValue* const known = attrs_.find(arg.number_attr);
  if (known && std::get<int64_t>(*known) != given)
    fail("parameter '" + parameter(arg.name).name + "' has " + std::to_string(given) +
         " tensors; it must have " + std::to_string(std::get<int64_t>(*known)) +
         ", as the list or the number before it says");
  attrs_.set(arg.number_attr, given);
}

DType Call::type_of_siblings(const std::string& type_attr) const {
  for (const auto& arg : entry_.op->inputs) {
    if (arg.type_attr != type_attr) continue;
    const Argument* argument = bound(arg.name);
    if (!argument) continue;
    if (const auto* output = std::get_if<Output>(&argument->value())) return scope_.dtype(*output);
    if (const auto* outputs = std::get_if<std::vector<Output>>(&argument->value());
        outputs && !outputs->empty())
      return scope_.dtype(outputs->front());
    if (const auto* list = std::get_if<std::vector<Argument>>(&argument->value()))
      for (const auto& element : *list)
        if (is_output(element)) return scope_.dtype(std::get<Output>(element.value()));
    if (const auto* tensor = std::get_if<Tensor>(&argument->value())) return tensor->dtype();
  }
  return DType::Invalid;
}

DType Call::literal_type(const ArgDef& arg, const Argument& literal) const {
  if (const auto* tensor = std::get_if<Tensor>(&literal.value())) return tensor->dtype();
  if (arg.type_attr.empty() && arg.type_list_attr.empty()) return arg.type;
  if (!arg.type_attr.empty()) {
    if (const AttrValue* given = attrs_.find(arg.type_attr)) return std::get<DType>(*given);
    if (const DType sibling = type_of_siblings(arg.type_attr); sibling != DType::Invalid) return sibling;
    const auto& fallback = entry_.op->find_attr(arg.type_attr)->default_value;
    if (fallback) return std::get<DType>(*fallback);
  }
  return natural_type(literal);
}

Output Call::to_output(const ArgDef& arg, const Argument& argument) const {
  if (const auto* output = std::get_if<Output>(&argument.value())) {
    const Status status = scope_.graph().check_tensor(*output);
    if (!status.ok()) fail("parameter '" + parameter(arg.name).name + "' " + status.text());
    return *output;
  }
  auto tensor = to_tensor(argument, literal_type(arg, argument));
  if (!tensor) fail("parameter '" + parameter(arg.name).name + "' " + tensor.status().text());
  return scope_.with_name("").constant(*tensor);
}

Output Call::all_axes_of_first_input() const {
  if (inputs_.empty()) fail("the first parameter must be a tensor");
  const PartialShape& shape = scope_.shape(inputs_.front());
  const Scope unnamed = scope_.with_name("");
  if (!shape.known_rank()) {
    const Output rank = unnamed.add_one("Rank", {inputs_.front()});
    return unnamed.add_one("Range", {unnamed.constant(Tensor::scalar<int32_t>(0)), rank,
                                     unnamed.constant(Tensor::scalar<int32_t>(1))});
  }
  std::vector<int32_t> axes(shape.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return unnamed.constant(Tensor::vector<int32_t>(std::span<const int32_t>(axes)));
}

}  // namespace troupe

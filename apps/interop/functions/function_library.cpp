#include "apps/interop/functions/function_library.h"

#include <algorithm>
#include <iterator>

namespace troupe::interop {

CallKind call_kind(std::string_view op) {
  static constexpr std::pair<std::string_view, CallKind> kinds[] = {
      {"PartitionedCall", CallKind::Call},  {"StatefulPartitionedCall", CallKind::Call},
      {"RemoteCall", CallKind::RemoteCall}, {"If", CallKind::If},
      {"StatelessIf", CallKind::If},        {"Case", CallKind::Case},
      {"StatelessCase", CallKind::Case},    {"While", CallKind::While},
      {"StatelessWhile", CallKind::While},  {"For", CallKind::For},
      {"MapDefun", CallKind::Map},          {"SymbolicGradient", CallKind::Gradient}};
  const auto found = std::ranges::find(kinds, op, &std::pair<std::string_view, CallKind>::first);
  return found == std::end(kinds) ? CallKind::None : found->second;
}

std::vector<std::string_view> function_names(const AttrValue& value) {
  std::vector<std::string_view> names;
  if (value.has_func()) names.push_back(value.func().name());
  for (const NameAttrList& function : value.list().func()) names.push_back(function.name());
  return names;
}

Result<FunctionLibrary> FunctionLibrary::make(const FunctionDefLibrary& library) {
  FunctionLibrary result;
  for (const FunctionDef& function : library.function())
    if (!result.functions_.emplace(function.signature().name(), &function).second)
      return invalid_argument("function " + function.signature().name() + " is defined twice");
  for (const GradientDef& gradient : library.gradient())
    if (!result.gradients_.emplace(gradient.function_name(), gradient.gradient_func()).second)
      return invalid_argument("function " + gradient.function_name() + " has two gradient functions");
  return result;
}

const FunctionDef* FunctionLibrary::find(std::string_view name) const {
  const auto at = functions_.find(name);
  return at == functions_.end() ? nullptr : at->second;
}

const FunctionDef* FunctionLibrary::find_gradient(std::string_view name) const {
  const auto at = gradients_.find(name);
  return at == gradients_.end() ? nullptr : find(at->second);
}

const AttrValue* find_attr(const NodeDef& node, std::string_view name) {
  for (const AttrEntry& attr : node.attr())
    if (attr.key() == name) return &attr.value();
  return nullptr;
}

}  // namespace troupe::interop

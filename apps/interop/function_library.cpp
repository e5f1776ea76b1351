#include "apps/interop/function_library.h"

namespace troupe::interop {
CallKind call_kind(std::string_view op) {
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall") return CallKind::Call;
  if (op == "If" || op == "StatelessIf") return CallKind::If;
  if (op == "While" || op == "StatelessWhile") return CallKind::While;
  return CallKind::None;
}

Result<FunctionLibrary> FunctionLibrary::make(const FunctionDefLibrary& library) {
  FunctionLibrary result;
  for (const FunctionDef& function : library.function())
    if (!result.functions_.emplace(function.signature().name(), &function).second)
      return already_exists("function " + function.signature().name() + " is defined twice");
  return result;
}

const FunctionDef* FunctionLibrary::find(std::string_view name) const {
  const auto at = functions_.find(name);
  return at == functions_.end() ? nullptr : at->second;
}

const AttrValue* find_attr(const NodeDef& node, std::string_view name) {
  for (const AttrEntry& attr : node.attr())
    if (attr.key() == name) return &attr.value();
  return nullptr;
}

}  // namespace troupe::interop

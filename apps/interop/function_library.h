// FunctionLibrary: the functions of a file by name. Points into the message that was read. Const once made.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>

#include "apps/interop/body.h"
#include "messages/values/status.h"

namespace troupe::interop {

/// The ops that call functions of their attributes.
enum class CallKind : uint8_t { None, Call, If, While };
CallKind call_kind(std::string_view op);

class FunctionLibrary {
 public:
  /// AlreadyExists when a function is defined twice.
  static Result<FunctionLibrary> make(const FunctionDefLibrary& library);

  /// Null when there is none.
  const FunctionDef* find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, const FunctionDef*> functions_;
};

/// The value of a node's attribute, or null.
const AttrValue* find_attr(const NodeDef& node, std::string_view name);

}  // namespace troupe::interop

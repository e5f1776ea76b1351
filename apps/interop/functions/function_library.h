// FunctionLibrary: the functions of a file by name. It points into the message that was read, which must outlive it. Immutable once
// made; any thread.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>

#include "apps/interop/body.h"
#include "messages/values/status.h"

namespace troupe::interop {

/// Classifies the ops that call the functions named by their attributes.
enum class CallKind : uint8_t { None, Call, RemoteCall, If, Case, While, For, Map, Gradient };
CallKind call_kind(std::string_view op);

/// Returns the names of the functions in an attribute of such an op.
std::vector<std::string_view> function_names(const AttrValue& value);

class FunctionLibrary {
 public:
  /// Fails with AlreadyExists if two functions have the same name, or one has two gradient functions.
  static Result<FunctionLibrary> make(const FunctionDefLibrary& library);

  /// Returns null if there is no such function.
  const FunctionDef* find(std::string_view name) const;
  /// Returns the function that the file declares to be the gradient of another: from the inputs of that function, followed by the
  /// gradients of its outputs, it computes the gradients of its inputs. Returns null if there is none.
  const FunctionDef* find_gradient(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, const FunctionDef*> functions_;
  std::unordered_map<std::string_view, std::string_view> gradients_;
};

/// Returns the value of an attribute of a node, or null if the node does not have it.
const AttrValue* find_attr(const NodeDef& node, std::string_view name);

}  // namespace troupe::interop

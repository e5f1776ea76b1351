// Call: one call of a constructor, as written in C++ or in an expression: arguments bound to parameters, numbers given their
// types, a node added. Behind Scope::call; throws Error like it. Lives for one call.
#pragma once

#include <string_view>
#include <vector>

#include "graph/build/scope.h"

namespace troupe {

class Call {
 public:
  Call(const Scope& scope, std::string_view constructor, const std::vector<Argument>& positional,
       const NamedArguments& named);
  /// The constructor's output, or Output::control of the node when it has none.
  Output build();

 private:
  [[noreturn]] void fail(std::string text) const;
  const Parameter& parameter(std::string_view name) const;
  void bind(const std::vector<Argument>& positional, const NamedArguments& named);
  const Argument* bound(std::string_view target) const;

  void set_attributes();
  void add_input(const ArgDef& arg);
  /// The type that literals of this argument take: fixed, by attribute, by the other inputs, or by the literal itself.
  DType literal_type(const ArgDef& arg, const Argument& literal) const;
  DType type_of_siblings(const std::string& type_attr) const;
  Output to_output(const ArgDef& arg, const Argument& argument) const;
  Output all_axes_of_first_input() const;

  Scope scope_;
  ConstructorEntry entry_;
  std::vector<const Argument*> arguments_;  ///< one per parameter; null: not given
  Attributes attrs_;
  std::vector<Output> inputs_;
};

/// The value as an attribute of this kind, or InvalidArgument saying what was expected.
Result<AttrValue> to_attribute(const Argument& argument, AttrKind kind);
/// A tensor from a number, a string, or nested lists of them, all of one shape; InvalidArgument when ragged or of mixed kinds.
Result<Tensor> to_tensor(const Argument& argument, DType dtype);
/// int32, float, bool or string, whichever the literal itself suggests; Invalid when it holds edges.
DType natural_type(const Argument& argument);

}  // namespace troupe

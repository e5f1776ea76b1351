// Call: one call of a constructor, from C++ or from an expression. It binds arguments to parameters, gives
// numbers their types, and adds the node. Used by Scope::call, and throws Error as that does. Lives for one call.
#pragma once

#include <string_view>
#include <vector>

#include "graph/build/scope.h"

namespace troupe {

class Call {
 public:
  Call(const Scope& scope, std::string_view constructor, const std::vector<Argument>& positional,
       const NamedArguments& named);
  /// Returns the constructor's output, or Output::control of the node if the op has no outputs.
  Output build();

 private:
  [[noreturn]] void fail(std::string text) const;
  const Parameter& parameter(std::string_view name) const;
  void bind(const std::vector<Argument>& positional, const NamedArguments& named);
  const Argument* bound(std::string_view target) const;

  void set_attributes();
  void add_input(const ArgDef& arg);
  void set_number(const ArgDef& arg, size_t number);
  /// Returns the type of a literal: that of the argument, of its attribute, of the other inputs, or of the literal itself.
  DType literal_type(const ArgDef& arg, const Argument& literal) const;
  DType type_of_siblings(const std::string& type_attr) const;
  Output to_output(const ArgDef& arg, const Argument& argument) const;
  Output all_axes_of_first_input() const;

  Scope scope_;
  ConstructorEntry entry_;
  std::vector<const Argument*> arguments_;  ///< for each parameter; null if it was not given
  Attributes attrs_;
  std::vector<Output> inputs_;
};

/// Returns an argument as an attribute of this kind. Fails with InvalidArgument, saying what was expected.
Result<AttrValue> to_attribute(const Argument& argument, AttrKind kind);
/// Makes a tensor from a number, a string, or nested lists of them. Fails with InvalidArgument if a list is ragged or mixes kinds.
Result<Tensor> to_tensor(const Argument& argument, DType dtype);
/// Returns the dtype of a literal that nothing else determines: int32, float, bool or string; Invalid if it holds edges.
DType natural_type(const Argument& argument);

}  // namespace troupe

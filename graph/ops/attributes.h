// Attributes of a node: named values that are fixed when the graph is built (features.md B4). Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/ops/partial_shape.h"
#include "messages/values/dtype.h"
#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

/// The name of a function in the graph's library.
struct FunctionName {
  std::string name;
  friend bool operator==(const FunctionName&, const FunctionName&) = default;
};

/// The value of an attribute. The order of the alternatives is that of AttrKind.
using AttrValue = std::variant<std::string, int64_t, float, bool, DType, PartialShape, Tensor, FunctionName,
                               std::vector<std::string>, std::vector<int64_t>, std::vector<float>,
                               std::vector<bool>, std::vector<DType>, std::vector<PartialShape>,
                               std::vector<Tensor>, std::vector<FunctionName>>;

enum class AttrKind : uint8_t {
  String,
  Int,
  Float,
  Bool,
  Type,
  Shape,
  Tensor,
  Function,
  Strings,
  Ints,
  Floats,
  Bools,
  Types,
  Shapes,
  Tensors,
  Functions,
};

inline AttrKind kind_of(const AttrValue& value) { return static_cast<AttrKind>(value.index()); }
/// Returns the name that op definitions use: "int", "list(type)", ...
std::string_view name(AttrKind kind);
/// Returns a text for people and for keys of caches: two texts are equal
/// if and only if the values are. Tensors are printed whole, as bytes.
std::string text(const AttrValue& value);
bool equal(const AttrValue& a, const AttrValue& b);

/// A small map from names to values, ordered by name.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, AttrValue>> values);

  const AttrValue* find(std::string_view name) const;
  void set(std::string_view name, AttrValue value);
  void erase(std::string_view name);
  /// Returns the value of an attribute that the op's definition guarantees: it must exist and have type T (asserted).
  template <class T>
  const T& get(std::string_view name) const {
    const AttrValue* value = find(name);
    assert(value && std::holds_alternative<T>(*value));
    return *std::get_if<T>(value);
  }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  size_t size() const { return values_.size(); }
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  std::vector<std::pair<std::string, AttrValue>> values_;
};

}  // namespace troupe
#pragma GCC visibility pop

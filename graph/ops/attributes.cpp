#include "graph/ops/attributes.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace troupe {
namespace {

std::string text_of_one(const std::string& value) { return '"' + value + '"'; }
std::string text_of_one(int64_t value) { return std::to_string(value); }
std::string text_of_one(bool value) { return value ? "true" : "false"; }
std::string text_of_one(DType value) { return std::string(name(value)); }
std::string text_of_one(const PartialShape& value) { return value.text(); }
std::string text_of_one(const FunctionName& value) { return value.name.empty() ? "none" : '@' + value.name; }

// The shortest decimal that yields the float, so that all floats differ; that of a whole number differs from an int's.
std::string text_of_one(float value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string text(digits.data(), end);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string text_of_one(const Tensor& value) {
  std::string out = value.signature() + '{';
  if (value.dtype() == DType::String) {
    for (const auto& element : value.as<std::string>()) out += std::to_string(element.size()) + ':' + element;
  } else if (value.valid()) {
    out.append(reinterpret_cast<const char*>(value.data()), value.bytes());
  }
  return out + '}';
}

template <class T>
std::string text_of_one(const std::vector<T>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ',';
    out += text_of_one(static_cast<T>(values[i]));
  }
  return out + ']';
}

}  // namespace

std::string_view name(AttrKind kind) {
  static constexpr std::array<std::string_view, 16> names = {
      "string",     "int",         "float",        "bool",      "type",        "shape",
      "tensor",     "func",        "list(string)", "list(int)", "list(float)", "list(bool)",
      "list(type)", "list(shape)", "list(tensor)", "list(func)"};
  return names[static_cast<size_t>(kind)];
}

std::string text(const AttrValue& value) {
  return std::visit([](const auto& one) { return text_of_one(one); }, value);
}

bool equal(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* tensor = std::get_if<Tensor>(&a)) return identical(*tensor, *std::get_if<Tensor>(&b));
  return text(a) == text(b);
}

Attributes::Attributes(std::initializer_list<std::pair<std::string, AttrValue>> values) {
  for (const auto& [name, value] : values) set(name, value);
}

namespace {
constexpr auto by_name = [](const auto& pair, std::string_view name) { return pair.first < name; };
}

const AttrValue* Attributes::find(std::string_view name) const {
  const auto at = std::lower_bound(values_.begin(), values_.end(), name, by_name);
  return at != values_.end() && at->first == name ? &at->second : nullptr;
}

void Attributes::set(std::string_view name, AttrValue value) {
  const auto at = std::lower_bound(values_.begin(), values_.end(), name, by_name);
  if (at != values_.end() && at->first == name)
    at->second = std::move(value);
  else
    values_.emplace(at, name, std::move(value));
}

void Attributes::erase(std::string_view name) {
  const auto at = std::lower_bound(values_.begin(), values_.end(), name, by_name);
  if (at != values_.end() && at->first == name) values_.erase(at);
}

bool operator==(const Attributes& a, const Attributes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && equal(x.second, y.second);
  });
}

}  // namespace troupe

// Converts literals of expressions and of C++ calls to attributes and constant tensors (graph/build/call.h).
#include <cmath>
#include <utility>

#include "graph/build/call.h"

namespace troupe {
namespace {

using List = std::vector<Argument>;

template <class T>
Result<T> convert(const Argument& argument);

template <>
Result<int64_t> convert(const Argument& argument) {
  if (const auto* number = std::get_if<int64_t>(&argument.value())) return *number;
  if (const auto* number = std::get_if<double>(&argument.value());
      number && std::trunc(*number) == *number && std::abs(*number) < 0x1p53)
    return static_cast<int64_t>(*number);
  return invalid_argument("must be an integer");
}

template <>
Result<double> convert(const Argument& argument) {
  if (const auto* number = std::get_if<double>(&argument.value())) return *number;
  if (const auto* number = std::get_if<int64_t>(&argument.value())) return static_cast<double>(*number);
  return invalid_argument("must be a number");
}

template <>
Result<float> convert(const Argument& argument) {
  TROUPE_ASSIGN(const double number, convert<double>(argument));
  return static_cast<float>(number);
}

template <>
Result<bool> convert(const Argument& argument) {
  if (const auto* value = std::get_if<bool>(&argument.value())) return *value;
  return invalid_argument("must be true or false");
}

template <>
Result<std::string> convert(const Argument& argument) {
  if (const auto* value = std::get_if<std::string>(&argument.value())) return *value;
  return invalid_argument("must be a string");
}

template <>
Result<DType> convert(const Argument& argument) {
  if (const auto* dtype = std::get_if<DType>(&argument.value())) return *dtype;
  if (const auto* text = std::get_if<std::string>(&argument.value())) return dtype_from_name(*text);
  return invalid_argument("must be the name of a dtype, such as 'float'");
}

template <>
Result<PartialShape> convert(const Argument& argument) {
  if (const auto* shape = std::get_if<PartialShape>(&argument.value())) return *shape;
  const auto* list = std::get_if<List>(&argument.value());
  if (!list) return invalid_argument("must be a list of dimensions");
  std::vector<int64_t> dims;
  for (const auto& element : *list) {
    TROUPE_ASSIGN(const int64_t dim, convert<int64_t>(element));
    dims.push_back(dim);
  }
  return PartialShape::make(std::move(dims));
}

template <class T>
Result<AttrValue> one(const Argument& argument) {
  TROUPE_ASSIGN(auto value, convert<T>(argument));
  return AttrValue(std::move(value));
}

template <class T>
Result<AttrValue> list_of(const Argument& argument) {
  const auto* list = std::get_if<List>(&argument.value());
  if (!list) return invalid_argument("must be a list");
  std::vector<T> values;
  for (const auto& element : *list) {
    TROUPE_ASSIGN(auto value, convert<T>(element));
    values.push_back(std::move(value));
  }
  return AttrValue(std::move(values));
}

/// Determines the dimensions of nested lists. Fails if the lists are ragged.
Status measure(const Argument& argument, size_t depth, std::vector<int64_t>& dims) {
  const auto* list = std::get_if<List>(&argument.value());
  if (!list) return depth == dims.size() ? Status{} : invalid_argument("is a ragged list");
  if (depth == Shape::max_rank) return invalid_argument("is nested too deeply");
  const auto length = static_cast<int64_t>(list->size());
  if (depth == dims.size())
    dims.push_back(length);
  else if (dims[depth] != length)
    return invalid_argument("is a ragged list");
  for (size_t i = 0; i < list->size(); ++i) {
    if (i != 0 && dims.size() == depth + 1 && std::holds_alternative<List>((*list)[i].value()))
      return invalid_argument("is a ragged list");
    TROUPE_RETURN_IF_FAILED(measure((*list)[i], depth + 1, dims));
  }
  return {};
}

/// Appends the elements of nested lists. Literal is the type from which an element of type T is read.
template <class T, class Literal = T>
Status fill(const Argument& argument, std::vector<T>& values) {
  if (const auto* list = std::get_if<List>(&argument.value())) {
    for (const auto& element : *list) TROUPE_RETURN_IF_FAILED((fill<T, Literal>(element, values)));
    return {};
  }
  TROUPE_ASSIGN(auto literal, convert<Literal>(argument));
  if constexpr (std::is_integral_v<T> && std::is_same_v<Literal, int64_t>)
    if (!std::in_range<T>(literal))
      return invalid_argument("is " + std::to_string(literal) + ", which " + std::string(name(dtype_of<T>)) +
                              " cannot hold");
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
                std::is_same_v<T, std::complex<float>>)
    values.push_back(T(static_cast<float>(literal)));
  else
    values.push_back(static_cast<T>(literal));
  return {};
}

template <class T, class Literal = T>
Result<Tensor> make(const Argument& argument) {
  std::vector<int64_t> dims;
  TROUPE_RETURN_IF_FAILED(measure(argument, 0, dims));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, dtype_of<T>));
  std::vector<T> values;
  TROUPE_RETURN_IF_FAILED((fill<T, Literal>(argument, values)));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(dtype_of<T>, shape));
  std::copy(values.begin(), values.end(), tensor.write<T>().begin());
  return tensor;
}

}  // namespace

Result<AttrValue> to_attribute(const Argument& argument, AttrKind kind) {
  switch (kind) {
    case AttrKind::String: return one<std::string>(argument);
    case AttrKind::Int: return one<int64_t>(argument);
    case AttrKind::Float: return one<float>(argument);
    case AttrKind::Bool: return one<bool>(argument);
    case AttrKind::Type: return one<DType>(argument);
    case AttrKind::Shape: return one<PartialShape>(argument);
    case AttrKind::Strings: return list_of<std::string>(argument);
    case AttrKind::Ints: return list_of<int64_t>(argument);
    case AttrKind::Floats: return list_of<float>(argument);
    case AttrKind::Bools: return list_of<bool>(argument);
    case AttrKind::Types: return list_of<DType>(argument);
    case AttrKind::Shapes: return list_of<PartialShape>(argument);
    case AttrKind::Tensor: {
      TROUPE_ASSIGN(Tensor tensor, to_tensor(argument, natural_type(argument)));
      return AttrValue(std::move(tensor));
    }
    default:
      return invalid_argument("has kind " + std::string(name(kind)) +
                              ", which cannot be written as a literal");
  }
}

Result<Tensor> to_tensor(const Argument& argument, DType dtype) {
  if (const auto* shape = std::get_if<PartialShape>(&argument.value())) {
    if (!shape->fully_known())
      return invalid_argument("is the shape " + shape->text() + ", which is not fully known");
    return to_tensor(std::vector<int64_t>(shape->dims().begin(), shape->dims().end()), dtype);
  }
  if (const auto* tensor = std::get_if<Tensor>(&argument.value())) {
    if (tensor->dtype() == dtype) return *tensor;
    return invalid_argument("is a tensor of " + std::string(name(tensor->dtype())) + ", expected " +
                            std::string(name(dtype)));
  }
  switch (dtype) {
    case DType::Float: return make<float, double>(argument);
    case DType::Double: return make<double>(argument);
    case DType::Half: return make<Half, double>(argument);
    case DType::BFloat16: return make<BFloat16, double>(argument);
    case DType::Int8: return make<int8_t, int64_t>(argument);
    case DType::UInt8: return make<uint8_t, int64_t>(argument);
    case DType::Int16: return make<int16_t, int64_t>(argument);
    case DType::UInt16: return make<uint16_t, int64_t>(argument);
    case DType::UInt32: return make<uint32_t, int64_t>(argument);
    case DType::UInt64: return make<uint64_t, int64_t>(argument);
    case DType::Int32: return make<int32_t, int64_t>(argument);
    case DType::Int64: return make<int64_t>(argument);
    case DType::Complex64: return make<std::complex<float>, double>(argument);
    case DType::Complex128: return make<std::complex<double>, double>(argument);
    case DType::Bool: return make<bool>(argument);
    case DType::String: return make<std::string>(argument);
    default: return invalid_argument("cannot be written as a constant of " + std::string(name(dtype)));
  }
}

DType natural_type(const Argument& argument) {
  struct Visitor {
    DType operator()(int64_t) const { return DType::Int32; }
    DType operator()(double) const { return DType::Float; }
    DType operator()(bool) const { return DType::Bool; }
    DType operator()(const std::string&) const { return DType::String; }
    DType operator()(const Tensor& tensor) const { return tensor.dtype(); }
    DType operator()(const List& list) const {
      DType result = list.empty() ? DType::Int32 : natural_type(list.front());
      for (const auto& element : list)
        if (natural_type(element) == DType::Float) result = DType::Float;
      return result;
    }
    DType operator()(const Output&) const { return DType::Invalid; }
    DType operator()(const std::vector<Output>&) const { return DType::Invalid; }
    DType operator()(DType) const { return DType::Invalid; }
    DType operator()(const PartialShape&) const { return DType::Int32; }
  };
  return std::visit(Visitor{}, argument.value());
}

}  // namespace troupe

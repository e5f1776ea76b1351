#include "messages/protobuf/tensor_proto.h"

#include <algorithm>
#include <array>
#include <bit>

namespace troupe::protobuf {
namespace {

enum Number : uint32_t {
  DTypeNumber = 1,
  ShapeNumber = 2,
  ContentNumber = 4,
  FirstValues = 5,
  StringValues = 8,
  LastValues = 17,
};

/// The name of each field of values, by its number; empty: a field that is skipped.
constexpr std::array<const char*, LastValues + 1> value_names = {"",
                                                                 "",
                                                                 "",
                                                                 "",
                                                                 "",
                                                                 "float_val",
                                                                 "double_val",
                                                                 "int_val",
                                                                 "string_val",
                                                                 "scomplex_val",
                                                                 "int64_val",
                                                                 "bool_val",
                                                                 "dcomplex_val",
                                                                 "half_val",
                                                                 "",
                                                                 "",
                                                                 "uint32_val",
                                                                 "uint64_val"};

Status damaged(const char* what) {
  return invalid_argument(std::string("the bytes of a ") + what + " are cut off or damaged");
}

Result<int64_t> read_dim(std::string_view message) {
  int64_t size = 0;
  FieldReader reader(message);
  while (const auto field = reader.next())
    if (field->number == 1 && field->kind == FieldKind::Varint) size = static_cast<int64_t>(field->varint);
  if (reader.damaged()) return damaged("TensorShapeProto");
  return size;
}

/// Packs strings as TensorFlow does: first the lengths of all strings, then their bytes.
std::string packed(std::span<const std::string> strings) {
  std::string content;
  for (const std::string& element : strings) append_varint(content, element.size());
  for (const std::string& element : strings) content += element;
  return content;
}

Status disagrees(const Tensor& tensor, const std::string& what) {
  return invalid_argument("a tensor of " + tensor.signature() + " has " + what);
}

Status read_packed_strings(std::string_view content, Tensor& tensor) {
  const auto strings = tensor.write<std::string>();
  if (strings.size() > content.size()) return disagrees(tensor, "too few lengths in tensor_content");
  std::vector<uint64_t> lengths(strings.size());
  for (uint64_t& length : lengths) {
    const auto taken = take_varint(content);
    if (!taken) return disagrees(tensor, "too few lengths in tensor_content");
    length = *taken;
  }
  for (size_t i = 0; i < strings.size(); ++i) {
    if (lengths[i] > content.size()) return disagrees(tensor, "too few bytes in tensor_content");
    strings[i].assign(content.substr(0, lengths[i]));
    content.remove_prefix(lengths[i]);
  }
  if (!content.empty()) return disagrees(tensor, "bytes left over in tensor_content");
  return {};
}

Status read_content(std::string_view content, Tensor& tensor) {
  if (tensor.dtype() == DType::String) return read_packed_strings(content, tensor);
  if (content.size() != tensor.bytes())
    return disagrees(tensor, std::to_string(content.size()) + " bytes of tensor_content");
  if (tensor.dtype() == DType::Bool &&
      std::ranges::any_of(content, [](char byte) { return byte != 0 && byte != 1; }))
    return disagrees(tensor, "a byte that is neither 0 nor 1");
  std::memcpy(tensor.mutable_data(), content.data(), content.size());
  return {};
}

/// Writes the values of fields to the elements of a tensor.
class ValueReader {
 public:
  ValueReader(std::span<const Field> fields, const char* name, Tensor& tensor)
      : fields_(fields), name_(name), tensor_(tensor) {}

  Status read() {
    switch (tensor_.dtype()) {
      case DType::Float: return fixed<float>();
      case DType::Double: return fixed<double>();
      case DType::Complex64: return complex<float>();
      case DType::Complex128: return complex<double>();
      case DType::Int32: return narrow<int32_t>();
      case DType::UInt8: return narrow<uint8_t>();
      case DType::Int16: return narrow<int16_t>();
      case DType::Int8: return narrow<int8_t>();
      case DType::UInt16: return narrow<uint16_t>();
      case DType::QInt8: return narrow<QInt8, int8_t>();
      case DType::QUInt8: return narrow<QUInt8, uint8_t>();
      case DType::QInt16: return narrow<QInt16, int16_t>();
      case DType::QUInt16: return narrow<QUInt16, uint16_t>();
      case DType::QInt32: return narrow<QInt32, int32_t>();
      case DType::Half: return narrow<Half, uint16_t>();
      case DType::BFloat16: return narrow<BFloat16, uint16_t>();
      case DType::Int64: return varints<int64_t>();
      case DType::UInt32: return varints<uint32_t>();
      case DType::UInt64: return varints<uint64_t>();
      case DType::Bool: return varints<bool>();
      default: return strings();
    }
  }

 private:
  /// `each(field, take)` calls take(value) for the values of a field. `convert(value, element)` returns false if the type cannot
  /// hold the value. Values beyond the elements are counted.
  template <class T, class Each, class Convert>
  Status fill(const Each& each, const Convert& convert) {
    const std::span<T> elements = tensor_.write<T>();
    size_t count = 0;
    bool fits = true;
    for (const Field& field : fields_) {
      const bool whole = each(field, [&](const auto& value) {
        T element{};
        fits = convert(value, element);
        if (count < elements.size()) elements[count] = std::move(element);
        ++count;
        return fits;
      });
      if (!fits) return disagrees(tensor_, std::string("a value out of range in ") + name_);
      if (!whole) return disagrees(tensor_, std::string("damaged bytes in ") + name_);
    }
    if (elements.empty()) return {};  // an empty tensor may have a value to repeat
    if (count > elements.size()) return disagrees(tensor_, std::to_string(count) + " elements in " + name_);
    std::fill(elements.begin() + static_cast<ptrdiff_t>(count), elements.end(),
              count == 0 ? T{} : elements[count - 1]);
    return {};
  }
  static constexpr auto each_integer = [](const Field& field, const auto& take) {
    return each_varint(field, take);
  };
  template <class T>
  Status varints() {
    return fill<T>(each_integer, [](uint64_t value, T& element) {
      element = static_cast<T>(value);
      return true;
    });
  }
  /// `Stored` is the integer type with the bits of T; each value must fit it.
  template <class T, class Stored = T>
  Status narrow() {
    return fill<T>(each_integer, [](uint64_t value, T& element) {
      const auto number = static_cast<int32_t>(value);
      const auto stored = static_cast<Stored>(number);
      element = std::bit_cast<T>(stored);
      return static_cast<int32_t>(stored) == number;
    });
  }
  template <class T>
  Status fixed() {
    return fill<T>([](const Field& field, const auto& take) { return each_fixed<T>(field, take); },
                   [](T value, T& element) {
                     element = value;
                     return true;
                   });
  }
  template <class T>
  Status complex() {
    T real{};
    bool has_real = false;
    const auto each_pair = [&](const Field& field, const auto& take) {
      return each_fixed<T>(field, [&](T value) {
        has_real = !has_real;
        if (!has_real) return take(std::complex<T>(real, value));
        real = value;
        return true;
      });
    };
    const auto copy = [](std::complex<T> value, std::complex<T>& element) {
      element = value;
      return true;
    };
    TROUPE_RETURN_IF_FAILED(fill<std::complex<T>>(each_pair, copy));
    return has_real ? disagrees(tensor_, std::string("half a value in ") + name_) : Status{};
  }
  Status strings() {
    const auto each = [](const Field& field, const auto& take) {
      return field.kind == FieldKind::Bytes && take(field.bytes);
    };
    return fill<std::string>(each, [](std::string_view value, std::string& element) {
      element = value;
      return true;
    });
  }

  const std::span<const Field> fields_;
  const char* const name_;
  Tensor& tensor_;
};

}  // namespace

uint32_t values_field(DType dtype) {
  switch (dtype) {
    case DType::Float: return 5;
    case DType::Double: return 6;
    case DType::String: return StringValues;
    case DType::Complex64: return 9;
    case DType::Int64: return 10;
    case DType::Bool: return 11;
    case DType::Complex128: return 12;
    case DType::Half:
    case DType::BFloat16: return 13;
    case DType::UInt32: return 16;
    case DType::UInt64: return 17;
    default: return 7;
  }
}

Result<Shape> read_shape_proto(std::string_view message, DType dtype) {
  std::vector<int64_t> dims;
  bool known = true;
  FieldReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 2 && field->kind == FieldKind::Bytes) {
      TROUPE_ASSIGN(const int64_t dim, read_dim(field->bytes));
      known &= dim != -1;
      dims.push_back(dim);
    } else if (field->number == 3 && field->kind == FieldKind::Varint) {
      known &= field->varint == 0;
    }
  }
  if (reader.damaged()) return damaged("TensorShapeProto");
  if (!known)
    return invalid_argument("shape " + (dims.empty() ? "?" : text_of(dims)) + " is not fully known");
  return Shape::make(dims, dtype);
}

std::string write_shape_proto(const Shape& shape) {
  std::string proto;
  for (const int64_t dim : shape.dims()) {
    std::string size;
    if (dim != 0) append_varint_field(size, 1, static_cast<uint64_t>(dim));
    append_bytes_field(proto, 2, size);
  }
  return proto;
}

Result<std::pair<uint64_t, std::string_view>> TensorProto::read_fields(std::string_view bytes) {
  uint64_t dtype = 0;
  std::string_view shape;
  FieldReader reader(bytes);
  while (const auto field = reader.next()) {
    const bool is_bytes = field->kind == FieldKind::Bytes;
    if (field->number == DTypeNumber && field->kind == FieldKind::Varint) dtype = field->varint;
    if (field->number == ShapeNumber && is_bytes) shape = field->bytes;
    if (field->number == ContentNumber && is_bytes) content_ = field->bytes;
    const bool has_values =
        field->number >= FirstValues && field->number <= LastValues && *value_names[field->number] != 0;
    if (has_values && (field->number == StringValues || !is_bytes || !field->bytes.empty()))
      values_.push_back(*field);
  }
  if (reader.damaged()) return damaged("TensorProto");
  return std::pair(dtype, shape);
}

Result<TensorProto> TensorProto::parse(std::string_view bytes) {
  TensorProto proto;
  TROUPE_ASSIGN(const auto form, proto.read_fields(bytes));
  TROUPE_ASSIGN(proto.dtype_, dtype_from_number(static_cast<int64_t>(form.first)));
  if (proto.dtype_ != DType::String && !is_plain(proto.dtype_))
    return invalid_argument("a TensorProto cannot have dtype " + std::string(name(proto.dtype_)));
  TROUPE_ASSIGN(proto.shape_, read_shape_proto(form.second, proto.dtype_));
  return proto;
}

Result<TensorProto> TensorProto::parse(std::string_view bytes, DType dtype, const Shape& shape) {
  TensorProto proto;
  TROUPE_RETURN_IF_FAILED(proto.read_fields(bytes).status());
  proto.dtype_ = dtype;
  proto.shape_ = shape;
  return proto;
}

uint64_t TensorProto::values() const {
  uint64_t count = 0;
  for (const Field& field : values_) {
    const bool is_packed = field.kind == FieldKind::Bytes && dtype_ != DType::String;
    if (!is_packed)
      ++count;
    else if (is_floating(dtype_) && size_of(dtype_) >= sizeof(float))
      count += field.bytes.size() / size_of(dtype_);
    else if (is_complex(dtype_))
      count += field.bytes.size() / (size_of(dtype_) / 2);
    else
      count += static_cast<uint64_t>(
          std::ranges::count_if(field.bytes, [](char byte) { return static_cast<uint8_t>(byte) < 0x80; }));
  }
  return is_complex(dtype_) ? count / 2 : count;
}

uint64_t TensorProto::memory() const {
  const auto elements = static_cast<uint64_t>(shape_.elements());
  uint64_t bytes = elements * size_of(dtype_);
  if (dtype_ != DType::String) return bytes;
  bytes += content_.size();
  for (const Field& value : values_) bytes += value.bytes.size();
  // Below 2^40 / 32 elements and 2^31 bytes each, so the product does not overflow.
  if (!values_.empty() && elements > values_.size())
    bytes += (elements - values_.size()) * static_cast<uint32_t>(values_.back().bytes.size());
  return bytes;
}

Status TensorProto::read(Tensor& tensor) const {
  return content_.empty() ? read_values(tensor) : read_content(content_, tensor);
}

Status TensorProto::read_values(Tensor& tensor) const {
  const uint32_t number = values_field(dtype_);
  const char* const name = value_names[number];
  if (std::ranges::any_of(values_, [&](const Field& field) { return field.number != number; }))
    return disagrees(tensor, std::string("elements in other fields than ") + name);
  return ValueReader(values_, name, tensor).read();
}

std::string write_tensor_proto(const Tensor& tensor, StringForm form) {
  std::string proto;
  append_varint_field(proto, DTypeNumber, static_cast<uint64_t>(tensor.dtype()));
  append_bytes_field(proto, ShapeNumber, write_shape_proto(tensor.shape()));
  if (tensor.elements() == 0) return proto;
  if (tensor.dtype() == DType::String && form == StringForm::Values) {
    for (const std::string& element : tensor.as<std::string>())
      append_bytes_field(proto, StringValues, element);
  } else if (tensor.dtype() == DType::String) {
    append_bytes_field(proto, ContentNumber, packed(tensor.as<std::string>()));
  } else {
    append_bytes_field(proto, ContentNumber, {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()});
  }
  return proto;
}

}  // namespace troupe::protobuf

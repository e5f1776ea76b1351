#include "apps/interop/tensor_proto.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <bit>

namespace troupe::interop {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor_content is little-endian");

Status disagrees(const Tensor& tensor, const std::string& what) {
  return invalid_argument("a constant of " + tensor.signature() + " has " + what);
}

/// Reads strings as TensorFlow packs them: first the lengths of all strings, then their bytes.
Status read_packed_strings(const std::string& content, Tensor& tensor) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(content.data()),
                                            static_cast<int>(content.size()));
  std::vector<uint32_t> lengths(static_cast<size_t>(tensor.elements()));
  for (uint32_t& length : lengths)
    if (!in.ReadVarint32(&length)) return disagrees(tensor, "too few lengths in tensor_content");
  size_t i = 0;
  for (std::string& element : tensor.write<std::string>()) {
    const uint32_t length = lengths[i++];
    if (length > content.size() || !in.ReadString(&element, static_cast<int>(length)))
      return disagrees(tensor, "too few bytes in tensor_content");
  }
  if (in.CurrentPosition() != static_cast<int>(content.size()))
    return disagrees(tensor, "bytes left over in tensor_content");
  return {};
}

Status read_content(const std::string& content, Tensor& tensor) {
  if (tensor.dtype() == DType::String) return read_packed_strings(content, tensor);
  if (content.size() != tensor.bytes())
    return disagrees(tensor, std::to_string(content.size()) + " bytes of tensor_content");
  if (tensor.dtype() == DType::Bool &&
      std::any_of(content.begin(), content.end(), [](char byte) { return byte != 0 && byte != 1; }))
    return disagrees(tensor, "a byte that is neither 0 nor 1");
  std::memcpy(tensor.mutable_data(), content.data(), content.size());
  return {};
}

/// Returns the number of elements in all value fields together.
int values_of(const TensorProto& proto) {
  return proto.float_val_size() + proto.double_val_size() + proto.int_val_size() + proto.string_val_size() +
         proto.scomplex_val_size() / 2 + proto.int64_val_size() + proto.bool_val_size() +
         proto.dcomplex_val_size() / 2 + proto.half_val_size() + proto.uint32_val_size() +
         proto.uint64_val_size();
}

/// Fills a tensor from the field of its type. If the field has fewer values than the tensor, the last one is repeated.
class ValueReader {
 public:
  ValueReader(const TensorProto& proto, Tensor& tensor) : proto_(proto), tensor_(tensor) {}

  Status read() {
    switch (tensor_.dtype()) {
      case DType::Float: return plain<float>("float_val", proto_.float_val());
      case DType::Double: return plain<double>("double_val", proto_.double_val());
      case DType::Int32: return plain<int32_t>("int_val", proto_.int_val());
      case DType::UInt8: return narrow<uint8_t>("int_val", proto_.int_val());
      case DType::Int16: return narrow<int16_t>("int_val", proto_.int_val());
      case DType::Int8: return narrow<int8_t>("int_val", proto_.int_val());
      case DType::UInt16: return narrow<uint16_t>("int_val", proto_.int_val());
      case DType::QInt8: return narrow<QInt8, int8_t>("int_val", proto_.int_val());
      case DType::QUInt8: return narrow<QUInt8, uint8_t>("int_val", proto_.int_val());
      case DType::QInt16: return narrow<QInt16, int16_t>("int_val", proto_.int_val());
      case DType::QUInt16: return narrow<QUInt16, uint16_t>("int_val", proto_.int_val());
      case DType::QInt32: return narrow<QInt32, int32_t>("int_val", proto_.int_val());
      case DType::Half: return narrow<Half, uint16_t>("half_val", proto_.half_val());
      case DType::BFloat16: return narrow<BFloat16, uint16_t>("half_val", proto_.half_val());
      case DType::Int64: return plain<int64_t>("int64_val", proto_.int64_val());
      case DType::UInt32: return plain<uint32_t>("uint32_val", proto_.uint32_val());
      case DType::UInt64: return plain<uint64_t>("uint64_val", proto_.uint64_val());
      case DType::Bool: return plain<bool>("bool_val", proto_.bool_val());
      case DType::String: return plain<std::string>("string_val", proto_.string_val());
      case DType::Complex64: return complex<float>("scomplex_val", proto_.scomplex_val());
      case DType::Complex128: return complex<double>("dcomplex_val", proto_.dcomplex_val());
      default: return invalid_argument("a constant cannot have dtype " + std::string(name(tensor_.dtype())));
    }
  }

 private:
  /// `convert(i, element)` sets the element to value i; it returns false if the type cannot hold the value.
  template <class T, class Convert>
  Status fill(const char* field, int count, Convert convert) {
    const std::span<T> elements = tensor_.write<T>();
    if (values_of(proto_) != count)
      return disagrees(tensor_, std::string("elements in other fields than ") + field);
    const auto given = static_cast<size_t>(count);
    if (elements.empty()) return {};  // an empty tensor may have a value to repeat
    if (given > elements.size()) return disagrees(tensor_, std::to_string(count) + " elements in " + field);
    for (int i = 0; i < count; ++i)
      if (!convert(i, elements[static_cast<size_t>(i)]))
        return disagrees(tensor_, std::string("a value out of range in ") + field);
    std::fill(elements.begin() + count, elements.end(), given == 0 ? T{} : elements[given - 1]);
    return {};
  }
  template <class T, class Values>
  Status plain(const char* field, const Values& values) {
    return fill<T>(field, values.size(), [&](int i, T& element) {
      element = static_cast<T>(values[i]);
      return true;
    });
  }
  /// `Stored` is the integer type with the bits of T; each value must fit it.
  template <class T, class Stored = T>
  Status narrow(const char* field, const google::protobuf::RepeatedField<int32_t>& values) {
    return fill<T>(field, values.size(), [&](int i, T& element) {
      const auto stored = static_cast<Stored>(values[i]);
      element = std::bit_cast<T>(stored);
      return static_cast<int32_t>(stored) == values[i];
    });
  }
  template <class T, class Values>
  Status complex(const char* field, const Values& values) {
    if (values.size() % 2 != 0) return disagrees(tensor_, std::string("half a value in ") + field);
    return fill<std::complex<T>>(field, values.size() / 2, [&](int i, std::complex<T>& element) {
      element = {values[2 * i], values[2 * i + 1]};
      return true;
    });
  }

  const TensorProto& proto_;
  Tensor& tensor_;
};

/// Returns how many bytes the contents of the strings take. The caller has bounded `elements`, so the sum does not overflow.
uint64_t string_bytes(const TensorProto& proto, int64_t elements) {
  uint64_t bytes = proto.tensor_content().size();
  for (const auto& value : proto.string_val()) bytes += value.size();
  if (proto.string_val_size() != 0 && elements > proto.string_val_size())
    bytes += static_cast<uint64_t>(elements - proto.string_val_size()) * proto.string_val().rbegin()->size();
  return bytes;
}

Status take(uint64_t bytes, uint64_t& budget, const Shape& shape, DType dtype) {
  if (bytes > budget)
    return resource_exhausted("a constant of " + std::string(name(dtype)) + shape.text() + " takes " +
                              std::to_string(bytes) + " bytes, but the limit constant_bytes leaves " +
                              std::to_string(budget));
  budget -= bytes;
  return {};
}

}  // namespace

Result<DType> read_dtype(DataType dtype) {
  auto known = dtype_from_number(dtype);
  if (known) return known;
  const std::string& published = DataType_Name(dtype);
  return invalid_argument("unknown dtype " + std::to_string(dtype) +
                          (published.empty() ? "" : " (" + published + ")"));
}

Result<PartialShape> read_shape(const TensorShapeProto& proto) {
  if (proto.unknown_rank()) return PartialShape{};
  std::vector<int64_t> dims;
  dims.reserve(static_cast<size_t>(proto.dim_size()));
  for (const auto& dim : proto.dim()) dims.push_back(dim.size());
  return PartialShape::make(std::move(dims));
}

void write_shape(const PartialShape& shape, TensorShapeProto& proto) {
  proto.set_unknown_rank(!shape.known_rank());
  for (const int64_t dim : shape.dims()) proto.add_dim()->set_size(dim);
}

Result<Tensor> read_tensor(const TensorProto& proto, uint64_t& budget) {
  TROUPE_ASSIGN(const DType dtype, read_dtype(proto.dtype()));
  if (is_local(dtype)) return invalid_argument("a constant cannot have dtype " + std::string(name(dtype)));
  TROUPE_ASSIGN(const PartialShape partial, read_shape(proto.tensor_shape()));
  TROUPE_ASSIGN(const Shape shape, partial.to_shape(dtype));
  TROUPE_RETURN_IF_FAILED(
      take(static_cast<uint64_t>(shape.elements()) * size_of(dtype), budget, shape, dtype));
  if (dtype == DType::String)
    TROUPE_RETURN_IF_FAILED(take(string_bytes(proto, shape.elements()), budget, shape, dtype));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(dtype, shape));
  TROUPE_RETURN_IF_FAILED(proto.tensor_content().empty() ? ValueReader(proto, tensor).read()
                                                         : read_content(proto.tensor_content(), tensor));
  return tensor;
}

void write_tensor(const Tensor& tensor, TensorProto& proto) {
  proto.set_dtype(write_dtype(tensor.dtype()));
  write_shape(tensor.shape(), *proto.mutable_tensor_shape());
  if (tensor.dtype() == DType::String) {
    for (const std::string& element : tensor.as<std::string>()) proto.add_string_val(element);
  } else {
    proto.set_tensor_content(tensor.data(), tensor.bytes());
  }
}

}  // namespace troupe::interop

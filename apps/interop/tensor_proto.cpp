#include "apps/interop/tensor_proto.h"

#include "messages/protobuf/tensor_proto.h"

namespace troupe::interop {
namespace {

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
  TROUPE_RETURN_IF_FAILED(read_dtype(proto.dtype()).status());  // its error has the name of the type
  const std::string bytes = proto.SerializeAsString();
  TROUPE_ASSIGN(const auto form, protobuf::TensorProto::parse(bytes));
  TROUPE_RETURN_IF_FAILED(take(form.memory(), budget, form.shape(), form.dtype()));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(form.dtype(), form.shape()));
  TROUPE_RETURN_IF_FAILED(form.read(tensor));
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
